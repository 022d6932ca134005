"""About the numbers."""
