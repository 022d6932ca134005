"""The list of label sets."""
