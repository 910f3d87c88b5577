"""Sentences' meanings and case tables that operators of several folders share, one file a family.

Imports `declare`; imported by operator files.
"""
