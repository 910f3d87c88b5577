# SPDX-License-Identifier: Apache-2.0
"""Findings as data for a site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_conformance.findings.finding import KINDS

if TYPE_CHECKING:
    from onnx_conformance.findings.finding import Finding

FINDING_KINDS = tuple(map(str, KINDS))
"""Names of verdicts, most severe first."""


def shown(finding: Finding) -> dict[str, Any]:
    """Return the data for the page of a finding, without empty members."""
    identity, failing, example, history = finding.identity, finding.cases, finding.example, finding.history
    data = {
        "id": finding.id,
        "backend": identity.backend,
        "runtime": history.runtime,
        "version": history.version,
        "operator": identity.operator,
        "kind": identity.kind,
        "title": finding.title,
        "conditions": failing.conditions,
        "clause": failing.clause,
        "force": failing.force,
        "link": finding.link,
        "versions": failing.versions,
        "types": failing.types,
        "forms": failing.forms,
        "count": failing.count,
        "confirmed": history.confirmed,
        "others": example.others,
        "since": history.since,
        "state": history.state,
        "history": history.events,
        "issue": history.issue,
        "reported": history.reported,
        "answered": history.answered,
        "severity": finding.severity.sentence(),
        "related": finding.related,
        "apart": bool(identity.apart),
        "guilty": example.guilty,
        "case": example.case,
        "model": example.model,
        "inputs": [[name, text] for name, text in example.inputs.items()],
        "expected": [[name, text] for name, text in example.expected.items()],
        "given": [[name, text] for name, text in example.given.items()],
        "message": example.message,
        "made": example.made,
        "cases": failing.ids,
        "why": identity.apart,
    }
    return {name: value for name, value in data.items() if value not in ("", [], (), {}, False)}
