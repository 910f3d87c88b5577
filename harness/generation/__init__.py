"""Declarations to cases: plans, their forms, function bodies, coverage, and the manifest that is committed.

Imports `case`, `spec` and `declare`.
"""
