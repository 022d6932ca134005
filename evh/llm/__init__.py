"""Asking a model: the request, the reply, retries, pace, and the client that does it."""
