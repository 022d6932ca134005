"""Other tools' evaluation logs and traces, each read by a module of its own into one form."""
