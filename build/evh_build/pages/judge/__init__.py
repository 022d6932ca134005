"""A judge."""
