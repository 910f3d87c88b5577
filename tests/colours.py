# SPDX-License-Identifier: Apache-2.0
"""Colours of a style sheet, and the contrast of two of them as WCAG defines it."""

from __future__ import annotations

import re


def palette(style: str, theme: int) -> dict[str, str]:
    """Return the colours of a style sheet by name, of the light theme (0) or the dark one (1)."""
    rows = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", style)
    return {name: pair[theme] for name, *pair in rows}


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21."""

    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    darker, lighter = sorted((light(one), light(other)))
    return (lighter + 0.05) / (darker + 0.05)
