# SPDX-License-Identifier: Apache-2.0
"""Minimizing: reduce a failing case to a smaller one that fails in the same way.

Imports `analysis`, `judging` and the packages before them.
"""
