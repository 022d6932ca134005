"""An item in full."""
