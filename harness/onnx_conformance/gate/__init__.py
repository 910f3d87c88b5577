"""Expectations (the verdicts that a runtime's author accepts for now), the gate that compares a run with them, updates.

Imports `results` and what that imports.
"""
