"""A run."""
