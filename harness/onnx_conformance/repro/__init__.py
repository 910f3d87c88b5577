"""Reproduction of a failure for others: a script that needs no part of this project, and a bug report.

Imports `minimize` and what it imports.
"""
