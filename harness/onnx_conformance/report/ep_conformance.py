# SPDX-License-Identifier: Apache-2.0
"""The conformance report of execution providers that ONNX Runtime's design describes, with its five outcomes.

The design names the content, not the members; the schema `ep-conformance` defines them. `results.ep_report` reads it.
Cases that are not scored have none of the five outcomes: they are counted as `not_scored`, but not listed.

Source: https://github.com/microsoft/onnxruntime/pull/32213, ep_operator_conformance_design.md.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.verdict import Verdict, line, split_operator
from onnx_conformance.report import json_text
from onnx_conformance.results.ep_report import KIND, VERSION, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_conformance.report.report_data import CheckedResult, ReportData

OUTCOMES: Mapping[Verdict, Outcome | None] = {
    Verdict.PASS: Outcome.PASS,
    Verdict.WRONG_VALUE: Outcome.FAIL,
    Verdict.WRONG_SHAPE: Outcome.FAIL,
    Verdict.WRONG_TYPE: Outcome.FAIL,
    Verdict.WRONG_COUNT: Outcome.FAIL,
    Verdict.INVALID_MODEL: Outcome.FAIL,
    Verdict.REFUSED: Outcome.FAIL,
    Verdict.DECLINED: Outcome.FAIL,
    Verdict.FALLBACK: Outcome.FAIL,
    Verdict.ACCEPTED_INVALID: Outcome.FAIL,
    Verdict.LENIENT: None,
    Verdict.KNOWS_LESS: None,
    Verdict.CRASH: Outcome.FAIL,
    Verdict.TIMEOUT: Outcome.FAIL,
    Verdict.FLAKY: Outcome.FAIL,
    Verdict.UNSUPPORTED: Outcome.UNSUPPORTED,
    Verdict.UNSPECIFIED: None,
    Verdict.ADAPTER_ERROR: Outcome.NOT_RUN,
}
"""The outcome of each verdict; None: not scored. An accepted failure is EXCLUDED."""


def report(data: ReportData) -> Iterator[str]:
    """Yield the document."""
    head = data.run.header
    top: dict[str, Any] = {
        "kind": KIND,
        "schema_version": VERSION,
        "suite": {"name": "onnx-conformance", "version": head.get("harness", ""), "cases": head["suite"]},
        "environment": {key: head.get(key, "") for key in ("onnx", "numpy", "python")} | {"machine": head["machine"]},
        "arguments": head["arguments"],
        "started": head.get("started", ""),
        **({"finished": finished} if (finished := (data.run.footer or {}).get("finished")) else {}),
        "complete": data.run.complete,
        "faults": data.faults,
    }
    yield f'{json_text.text(top)[:-1]},\n"providers":['
    for number, backend in enumerate(head["backends"]):
        yield ",\n" if number else ""
        yield from _provider(data, backend)
    yield "]}\n"


def _provider(data: ReportData, backend: str) -> Iterator[str]:
    """Yield the results of one backend, and their counts."""
    hello, counts = data.run.header["backends"][backend], _Counts()
    known = hello.get("provider", {})
    about = {
        "backend": backend,
        "name": known.get("name") or hello.get("runtime", backend),
        "version": hello.get("version", ""),
        **{key: known[key] for key in ("onnxruntime", "registration", "device") if key in known},
        **{
            key: hello[key]
            for key in ("runtime", "profile", "exclusions", "overrides", "bounds", "opset")
            if key in hello
        },
        **({"sample": data.samples[backend]} if backend in data.samples else {}),
    }
    yield f'{json_text.text(about)[:-1]},"results":'

    def results() -> Iterator[str]:
        for checked in data.checked_results():
            if checked.result.backend == backend:
                outcome = outcome_of(checked)
                counts.add(checked, outcome)
                if outcome is not None:
                    yield json_text.text(_result(checked, outcome))
        for item in data.run.unreadable:
            counts.outcomes[Outcome.NOT_RUN] += 1
            yield json_text.text({"id": item.case, "result": Outcome.NOT_RUN, "diagnostics": item.message})

    yield from json_text.array(results())
    yield f',\n"summary":{json_text.text(counts.members)}}}'


def outcome_of(checked: CheckedResult) -> Outcome | None:
    """Return the outcome of a result; None: it is not scored."""
    return Outcome.EXCLUDED if checked.accepted else OUTCOMES[checked.result.verdict]


def _result(checked: CheckedResult, outcome: Outcome) -> dict[str, Any]:
    result = checked.result
    name, since = split_operator(result.operator)
    domain, _, kind = name.rpartition("/")
    members = {
        "id": result.case,
        "operator": {
            "domain": "" if domain == "ai.onnx" else domain,
            "type": kind,
            **({} if since is None else {"opset": since}),
        },
        "result": outcome,
        "verdict": str(result.verdict),
        "expects": result.outcome,
        "duration_seconds": result.seconds,
        "data_type": result.element_type,
        "diagnostics": line(": ".join(filter(None, (result.error, result.message))), 1000),
        "reason": (result.excluded if checked.excluded else checked.status_text) if checked.accepted else "",
        "override": result.override,
        "exceeded": result.exceeded,
    }
    return {key: value for key, value in members.items() if value not in ("", None)}


class _Counts:
    """The counts of one backend, by outcome, and by outcome of each domain, operator, opset and data type."""

    def __init__(self) -> None:
        self.outcomes: Counter[Outcome] = Counter()
        self._not_scored: Counter[str] = Counter()
        self._overridden = self._exceeded = 0
        self._by: dict[str, dict[str, Counter[Outcome]]] = {
            key: {} for key in ("domain", "operator", "opset", "data_type")
        }

    def add(self, checked: CheckedResult, outcome: Outcome | None) -> None:
        result = checked.result
        if outcome is None:
            self._not_scored[str(result.verdict)] += 1
            return
        self.outcomes[outcome] += 1
        self._overridden += bool(result.override)
        self._exceeded += bool(result.exceeded)
        name, since = split_operator(result.operator)
        keys = (name.rpartition("/")[0], name, "" if since is None else str(since), result.element_type)
        for by, key in zip(self._by.values(), keys, strict=True):
            if key:
                by.setdefault(line(key, 200), Counter())[outcome] += 1

    @property
    def members(self) -> dict[str, Any]:
        """The counts as the report has them."""
        return {
            "results": _numbers(self.outcomes),
            **({"passed_within_an_override": self._overridden} if self._overridden else {}),
            **({"passed_exceeding_a_bound": self._exceeded} if self._exceeded else {}),
            "not_scored": dict(sorted(self._not_scored.items())),
            **{
                f"by_{name}": {key: _numbers(by[key]) for key in sorted(by, key=_order)}
                for name, by in self._by.items()
            },
        }


def _order(key: str) -> tuple[int, str]:
    """Return the sort key of a name, or of the number of an opset."""
    return (int(key), "") if key.isdecimal() else (0, key)


def _numbers(counts: Counter[Outcome]) -> dict[str, int]:
    return {str(outcome): counts[outcome] for outcome in Outcome}
