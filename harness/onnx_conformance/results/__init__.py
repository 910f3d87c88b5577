# SPDX-License-Identifier: Apache-2.0
"""The result stream: its records and files, merging, sampling, counting, and trends over versions of a runtime.

Imports `case` and `specification`; nothing here runs a backend.
"""
