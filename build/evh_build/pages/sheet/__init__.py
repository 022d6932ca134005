"""A dataset's sheet."""
