"""Findings as data for a site."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from onnx_conformance.findings.finding import GRAVITY

if TYPE_CHECKING:
    from onnx_conformance.findings.finding import Finding

FINDING_KINDS = tuple(map(str, GRAVITY))
"""Names of verdicts, most severe first."""


def shown(finding: Finding) -> dict[str, Any]:
    """Return the data for the page of a finding, without empty members."""
    data = dataclasses.asdict(finding)
    example = data.pop("example")
    for name in ("inputs", "expected", "given"):
        example[name] = [[key, text] for key, text in example[name].items()]
    data.update(example, cases=data.pop("ids"), apart=bool(finding.apart), why=finding.apart)
    return {
        name: value
        for name, value in data.items()
        if name not in {"script", "cause"} and value not in ("", [], (), {}, False)
    }
