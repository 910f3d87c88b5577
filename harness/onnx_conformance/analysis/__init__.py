# SPDX-License-Identifier: Apache-2.0
"""Analysis of failures: traits of cases, the smallest rules that match only failures, dissent of implementations.

Imports `suites`, `results` and their imports; runs no backend.
"""
