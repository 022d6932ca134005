"""The list of captures."""
