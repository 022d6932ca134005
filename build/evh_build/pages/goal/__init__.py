"""A goal."""
