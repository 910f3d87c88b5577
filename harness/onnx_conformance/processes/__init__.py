"""Adapter processes: starting and ending them, sending cases, and reading replies."""
