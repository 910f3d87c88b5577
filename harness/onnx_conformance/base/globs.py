# SPDX-License-Identifier: Apache-2.0
"""Globs over ids and operator versions, in the syntax of fnmatch."""

from __future__ import annotations

import re

SPECIAL = re.compile(r"([*?\[])")


def stem(glob: str) -> str:
    """Return the text before the first special character: every match begins with it."""
    return SPECIAL.split(glob, maxsplit=1)[0]


def literal(text: str) -> str:
    """Return the glob that matches only this text."""
    return SPECIAL.sub(r"[\1]", text)


def may_match(glob: str, operator: str) -> bool:
    """Return whether a glob can match an id that begins with this operator version, without generating its cases."""
    prefix = stem(glob)
    return prefix.startswith(f"{operator}/") or f"{operator}/".startswith(prefix)
