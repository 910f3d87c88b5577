"""Runs cases on backends: resolves a backend's name, installs it, runs its adapter processes, and judges the replies.

Imports `suites` and what that imports; reads and writes no result file. Packages from `results` on may import it.
"""
