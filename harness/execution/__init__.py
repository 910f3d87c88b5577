"""Adapter processes: how a backend is named, installed, started, asked and judged.

Imports `suites` and what that imports; no result file is read or written here.
"""
