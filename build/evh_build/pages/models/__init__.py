"""The model records."""
