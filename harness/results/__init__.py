"""The result stream: its lines, files of it, merging, sampling, counting, and versions of a runtime compared.

Imports `case` and `execution` for names; nothing here runs a backend.
"""
