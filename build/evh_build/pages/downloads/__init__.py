"""The tables to take away."""
