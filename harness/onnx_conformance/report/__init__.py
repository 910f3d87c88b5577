# SPDX-License-Identifier: Apache-2.0
"""Reports: one module a format, all made from the result stream. Imported by `run` and `cli` only."""
