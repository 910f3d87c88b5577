# SPDX-License-Identifier: Apache-2.0
"""Property-based search: draw undeclared calls, compare with the oracle's answers, shrink and keep the failures.

Imports `minimize`, `suites`, `judging` and the packages before them.
"""
