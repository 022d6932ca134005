"""A label set."""
