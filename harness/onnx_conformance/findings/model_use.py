"""The findings about the operator versions and element types that a model uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx_conformance.findings.finding import FIXED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx_conformance.findings.finding import Finding, Findings
    from onnx_conformance.specification.model_use import Use


@dataclass(frozen=True)
class Concern:
    """A finding that concerns nodes of a model.

    Attributes:
        finding: the finding of the runtime.
        use: the nodes.
    """

    finding: Finding
    use: Use


def concerns(used: Iterable[Use], findings: Findings, backend: str) -> list[Concern]:
    """Return the findings of a backend about the operators that a model uses, with the most severe first.

    Args:
        used: the operators that the model uses.
        findings: the findings of a folder.
        backend: the name of the backend in these findings.
    """
    by_operator: dict[str, list[Use]] = {}
    for use in used:
        by_operator.setdefault(use.operator, []).append(use)
    return [
        Concern(finding, use)
        for finding in findings.of(backend)
        if finding.history.state != FIXED
        for use in by_operator.get(finding.identity.operator, ())
        if use.version in finding.cases.versions
        and (not finding.cases.types or not use.types or use.types.intersection(finding.cases.types))
    ]
