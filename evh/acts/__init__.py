"""Deeds, one a file: each plans all it would write, refuses with every reason at once, then commits."""
