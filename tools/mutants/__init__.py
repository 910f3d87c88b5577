"""Faults put into the oracles, one token at a time, and which of them the generated cases notice.

`nox -s mutants` runs it. A fault that no case notices is a case to write, or changes nothing that a case could notice.
"""
