# SPDX-License-Identifier: Apache-2.0
"""Reads a conformance report of execution providers as results; `report.ep_conformance` writes one.

A report has less content than a result stream: sentences, mismatches and cases that are not scored are missing. A
report of another program may have no verdicts: FAIL and EXCLUDED are then read as `refused`.
"""

from __future__ import annotations

import enum
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import fastjsonschema

from onnx_conformance.base import schemas
from onnx_conformance.base.verdict import Verdict, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

KIND = "ep-conformance-report"
VERSION = 1
"""Increased when the meaning of a member changes."""
MOST_BYTES = 1 << 30
"""Maximum size of a report."""


class Outcome(enum.StrEnum):
    """The outcome of a case in the design."""

    PASS = "PASS"  # noqa: S105 - not a password
    UNSUPPORTED = "UNSUPPORTED"
    FAIL = "FAIL"
    EXCLUDED = "EXCLUDED"
    NOT_RUN = "NOT_RUN"


VERDICTS: Mapping[str, Verdict] = {
    Outcome.PASS: Verdict.PASS,
    Outcome.UNSUPPORTED: Verdict.UNSUPPORTED,
    Outcome.FAIL: Verdict.REFUSED,
    Outcome.EXCLUDED: Verdict.REFUSED,
    Outcome.NOT_RUN: Verdict.ADAPTER_ERROR,
}
"""The verdict of a result that has none."""


class EpReportError(ValueError):
    """A report cannot be read; the text contains the reason, and the caller adds the file."""


def lines(path: Path) -> Iterator[bytes] | None:
    """Return the records of a result stream with the results of a report; None if the file is no such report.

    Raises:
        EpReportError: the report is malformed.
    """
    try:
        report = json.loads(path.read_bytes()) if path.stat().st_size <= MOST_BYTES else None
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(report, dict) or report.get("kind") != KIND:
        return None
    if report.get("schema_version") != VERSION:
        raise EpReportError(
            f"its schema_version is {line(report.get('schema_version'), 40)}; this version reads {VERSION}"
        )
    try:
        _validate(report)
    except fastjsonschema.JsonSchemaException as error:
        raise EpReportError(line(str(error).replace("data", "report", 1))) from None
    return (json.dumps(record).encode() + b"\n" for record in _records(report))


def _validate(report: object) -> None:
    fastjsonschema.validate(schemas.as_draft_7("ep-conformance"), report)


def _records(report: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    environment, providers = report["environment"], report["providers"]
    machine = {"system": "", "processor": "", "cores": None, **environment.get("machine", {})}
    moment = report.get("started") or "1970-01-01T00:00:00+00:00"
    suite = report["suite"].get("cases", {})
    yield {
        "kind": "header",
        "format": 1,
        "harness": str(report["suite"].get("version", "")),
        **{key: str(environment.get(key, "")) for key in ("onnx", "numpy", "python")},
        "machine": machine,
        "started": moment,
        "suite": {"name": report["suite"]["name"], "digest": "", **suite},
        "backends": {item.get("backend", item["name"]): _hello(item) for item in providers},
        "arguments": report.get("arguments", {}),
    }
    counts: dict[str, Counter[str]] = {}
    for item in providers:
        backend = item.get("backend", item["name"])
        counts[backend] = Counter()
        for result in item["results"]:
            record = _result(result, backend)
            counts[backend][record["verdict"]] += 1
            yield record
    if report["complete"]:
        faults, finished = report.get("faults", []), report.get("finished") or moment
        yield {"kind": "footer", "counts": counts, "faults": faults, "finished": finished, "seconds": 0}


def _hello(item: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("version", "profile", "exclusions", "overrides", "bounds", "opset")
    about = {key: item[key] for key in ("name", "onnxruntime", "registration", "device") if key in item}
    return {
        "runtime": item.get("runtime", item["name"]),
        "provider": about,
        **{key: item[key] for key in kept if key in item},
    }


def _result(result: Mapping[str, Any], backend: str) -> dict[str, Any]:
    operator = result.get("operator", {})
    name = "/".join(filter(None, (operator.get("domain") or "ai.onnx", operator.get("type"))))
    record = {
        "kind": "result",
        "case": result["id"],
        "operator": f"{name}/{operator['opset']}" if "opset" in operator else name if operator else "",
        "backend": backend,
        "verdict": result.get("verdict") or str(VERDICTS[result["result"]]),
        "outcome": result.get("expects", "values"),
        "form": result["id"].partition("@")[2] or "plain",
        "message": result.get("diagnostics", ""),
        "seconds": result.get("duration_seconds"),
        "excluded": result.get("reason", "") if result["result"] == Outcome.EXCLUDED else "",
        "override": result.get("override", ""),
        "exceeded": result.get("exceeded", ""),
    }
    return {key: value for key, value in record.items() if value not in ("", None)}
