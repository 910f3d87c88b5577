"""One file per operator family: its clauses, its oracle, its cases.

Files here import `harness.declare` and numpy, and nothing else. `harness.registry` finds every `Op`.
"""
