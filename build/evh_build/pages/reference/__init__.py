"""A reference set."""
