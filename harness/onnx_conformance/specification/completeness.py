# SPDX-License-Identifier: Apache-2.0
"""Completeness: the numbers of operators and operator versions of onnx.defs that are declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_conformance.specification import registry, schema

if TYPE_CHECKING:
    from collections.abc import Collection

COMPLETENESS = "{operators} of {of_operators} operators and {versions} of {of_versions} operator versions have cases"


def covers(names: Collection[str] | None = None) -> dict[str, int]:
    """Return the numbers of operators and versions with generated cases and in ONNX, for the header of a run.

    Args:
        names: the operator versions with generated cases; None to read them from all operator files.
    """
    if names is None:
        names = [str(version) for op in registry.load() for version in registry.versions(op)]
    every = schema.every()
    return {
        "operators": len({name.rpartition("/")[0] for name in names}),
        "of_operators": len(every),
        "versions": len(names),
        "of_versions": sum(map(len, every.values())),
    }


def completeness() -> str:
    """Return these numbers as a clause, for use in a sentence."""
    return COMPLETENESS.format(**covers())


def undeclared(op: str) -> str:
    """Return a message about an operator of ONNX without a declaration."""
    versions = ", ".join(item.rpartition("/")[2] for item in schema.every()[op])
    return f"ONNX has {op} (versions {versions}), but no case is written for it yet; {completeness()}"
