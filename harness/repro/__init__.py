"""One failure for others to see: a script that needs no part of this project, and a bug report.

Imports `minimize` and what that imports.
"""
