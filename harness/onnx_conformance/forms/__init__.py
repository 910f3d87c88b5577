"""The forms: ways to deliver the same case, as one table.

Imports `base` only.
"""
