"""The list of arms."""
