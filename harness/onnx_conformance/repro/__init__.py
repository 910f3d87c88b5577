# SPDX-License-Identifier: Apache-2.0
"""Reproduction of a failure: a script that does not need this project, and a bug report.

Imports `minimize` and the packages before it.
"""
