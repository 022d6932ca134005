"""Bytes: names, files, journals, locks, hashes and strict text. Knows nothing of evaluations."""
