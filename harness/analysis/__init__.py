"""What failures have in common: traits of cases, the smallest rules that match only failures, dissent.

Imports `suites`, `results` and what they import; runs no backend.
"""
