"""Adapters: what runs inside a runtime's own environment.

Nothing here imports `harness`; an adapter needs numpy, its runtime, and this package.
"""
