"""Two arms compared."""
