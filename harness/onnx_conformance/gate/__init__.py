# SPDX-License-Identifier: Apache-2.0
"""Expectations (the verdicts that a runtime's author currently accepts), the gate, and updates.

Imports `results` and its imports.
"""
