"""Containers: sequences and optionals, and what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.declare.op import Derivation


def held_by(kind: str, variable: str) -> Derivation:
    """Derive an output's type as that of what a container holds.

    Args:
        kind: of the container: seq or optional. What is none of this kind keeps its type.
        variable: the type variable of the container.
    """

    def derive(types: Mapping[str, str], _: Mapping[str, Any]) -> str:
        text = types[variable]
        return text.removeprefix(f"{kind}(").removesuffix(")") if text.startswith(f"{kind}(") else text

    return derive
