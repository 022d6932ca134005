"""An arm."""
