"""A dataset."""
