"""How much of ONNX has cases: operators and operator versions that are declared, of those that onnx.defs has."""

from __future__ import annotations

from harness.spec import registry, schema

COMPLETENESS = "{operators} of {of_operators} operators and {versions} of {of_versions} operator versions have cases"


def covers() -> dict[str, int]:
    """Return how much of ONNX the generated cases are of, as the header of a run has it."""
    versions = [version for op in registry.load() for version in registry.versions(op)]
    every = schema.every()
    return {
        "operators": len({(version.domain, version.name) for version in versions}),
        "of_operators": len(every),
        "versions": len(versions),
        "of_versions": sum(map(len, every.values())),
    }


def completeness() -> str:
    """Return the same as a sentence part."""
    return COMPLETENESS.format(**covers())


def undeclared(op: str) -> str:
    """Return a sentence on an operator of ONNX that nothing is declared of."""
    versions = ", ".join(item.rpartition("/")[2] for item in schema.every()[op])
    return f"ONNX has {op} (versions {versions}), of which no case is written yet; {completeness()}"
