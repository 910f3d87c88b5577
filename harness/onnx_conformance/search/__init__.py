"""Property-based search: draw calls that nobody declared, let the oracle say what is right, shrink and keep what fails.

Imports `minimize`, `suites`, `execution` and what they import.
"""
