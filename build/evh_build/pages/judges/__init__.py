"""The list of judges."""
