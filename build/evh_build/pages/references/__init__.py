"""The list of reference sets."""
