"""Rewrites that optimizers are known to make: models that have the pattern, and models that only resemble it.

One file a family; a rewrite is a row. Each model is delivered in every surrounding of `surroundings.py`, in some of
which the rewrite must not be made; what is expected of it is evaluated by the oracles.
"""
