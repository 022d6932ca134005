"""What other labelling tools export: one module a tool, each of which gives the answers in its files."""
