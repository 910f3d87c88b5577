"""Completeness: the numbers of operators and operator versions of onnx.defs that are declared."""

from __future__ import annotations

from onnx_conformance.specification import registry, schema

COMPLETENESS = "{operators} of {of_operators} operators and {versions} of {of_versions} operator versions have cases"


def covers() -> dict[str, int]:
    """Return the numbers of operators and versions with generated cases and in ONNX, for the header of a run."""
    versions = [version for op in registry.load() for version in registry.versions(op)]
    every = schema.every()
    return {
        "operators": len({(version.domain, version.name) for version in versions}),
        "of_operators": len(every),
        "versions": len(versions),
        "of_versions": sum(map(len, every.values())),
    }


def completeness() -> str:
    """Return these numbers as a clause, for use in a sentence."""
    return COMPLETENESS.format(**covers())


def undeclared(op: str) -> str:
    """Return a message about an operator of ONNX without a declaration."""
    versions = ", ".join(item.rpartition("/")[2] for item in schema.every()[op])
    return f"ONNX has {op} (versions {versions}), but no case is written for it yet; {completeness()}"
