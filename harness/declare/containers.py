"""Containers: sequences and optionals, and what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.declare.op import Derivation


def held_by(variable: str) -> Derivation:
    """Derive an output's type as that of what a sequence or an optional holds; of anything else, its own."""

    def derive(types: Mapping[str, str], _: Mapping[str, Any]) -> str:
        text = types[variable]
        for kind in ("seq(", "optional("):
            if text.startswith(kind):
                return text.removeprefix(kind).removesuffix(")")
        return text

    return derive
