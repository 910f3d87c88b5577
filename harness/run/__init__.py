"""One run from one end to the other: the scheduler of cases over processes, progress, and what it costs.

Imports everything but `cli`.
"""
