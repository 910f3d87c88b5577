# SPDX-License-Identifier: Apache-2.0
"""From declarations to cases: plans, their forms, function bodies, coverage, and the committed manifest.

Imports `case`, `specification` and `declare`.
"""
