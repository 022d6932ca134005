"""The picks."""
