"""The result stream: its records and files, merging, sampling, counting, and trends over versions of a runtime.

Imports `case` and `spec`; nothing here runs a backend.
"""
