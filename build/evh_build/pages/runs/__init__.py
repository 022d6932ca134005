"""The list of runs."""
