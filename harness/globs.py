"""Globs over ids and operator versions, as fnmatch has them."""

from __future__ import annotations

import re

SPECIAL = re.compile(r"([*?\[])")


def stem(glob: str) -> str:
    """Return what stands before the first special character: every match begins with it."""
    return SPECIAL.split(glob, maxsplit=1)[0]


def literal(text: str) -> str:
    """Return the glob that matches this text alone."""
    return SPECIAL.sub(r"[\1]", text)


def may_match(glob: str, operator: str) -> bool:
    """Tell whether a glob can match an id that begins with an operator version; spares making or asking each."""
    begins = stem(glob)
    return begins.startswith(f"{operator}/") or f"{operator}/".startswith(begins)
