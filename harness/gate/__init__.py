"""Expectations: what a runtime's author accepts for now, the gate that compares a run with it, and its update.

Imports `results` and what that imports.
"""
