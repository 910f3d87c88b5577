"""Text attributes: a declaration writes str, a model holds bytes."""

from __future__ import annotations


def text(value: str | bytes) -> str:
    """Return a string attribute as str, whichever way it came."""
    return value.decode() if isinstance(value, bytes) else value
