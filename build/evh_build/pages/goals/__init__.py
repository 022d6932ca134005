"""The list of goals."""
