"""A capture."""
