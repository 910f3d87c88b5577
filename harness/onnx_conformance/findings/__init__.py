"""Findings: the distinct faults behind failures, each with a sentence, the smallest case, and a reproducing script."""
