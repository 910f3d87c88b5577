"""A case, how an answer is compared with what it expects, and values and models as text.

Imports `declare` and `spec`; whoever makes, runs or reports cases imports it.
"""
