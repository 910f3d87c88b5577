# SPDX-License-Identifier: Apache-2.0
"""SARIF 2.1.0 for code scanning: a rule is a sentence of an operator's text, a result is a case that violates it.

Each backend has one SARIF run. Code scanning limits the number of results, so the worst ones are kept, in memory until
their run is written. A notification contains the number of omitted results.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from onnx_conformance.base.package import REPOSITORY
from onnx_conformance.base.printing import quoted
from onnx_conformance.base.verdict import Verdict, clean, line
from onnx_conformance.report import json_text, profile_rows
from onnx_conformance.report.report_data import moment
from onnx_conformance.results.sampling import in_words
from onnx_conformance.specification import links

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.report.report_data import CheckedResult, ReportData

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ERROR, WARNING, NOTE = "error", "warning", "note"
LEVELS: Mapping[Verdict, str | None] = {
    Verdict.PASS: None,
    Verdict.WRONG_VALUE: ERROR,
    Verdict.WRONG_SHAPE: ERROR,
    Verdict.WRONG_TYPE: ERROR,
    Verdict.WRONG_COUNT: ERROR,
    Verdict.INVALID_MODEL: ERROR,
    Verdict.REFUSED: WARNING,
    Verdict.DECLINED: WARNING,
    Verdict.FALLBACK: WARNING,
    Verdict.ACCEPTED_INVALID: NOTE,
    Verdict.LENIENT: None,
    Verdict.KNOWS_LESS: None,
    Verdict.CRASH: ERROR,
    Verdict.TIMEOUT: ERROR,
    Verdict.FLAKY: ERROR,
    Verdict.UNSUPPORTED: None,
    Verdict.UNSPECIFIED: None,
    Verdict.ADAPTER_ERROR: None,
}
"""The level of a verdict in code scanning; None: it is not a result. An adapter error becomes a notification."""

MOST_RUNS, MOST_RESULTS, MOST_BYTES = 20, 25_000, 10 * 1000 * 1000
"""GitHub's limits: runs in a file, results in a run, bytes of the compressed file."""
SHOWN_RESULTS = 5_000
"""Maximum number of results that GitHub shows for a run."""
MARGIN = 200_000
"""Bytes by which the compressed file may exceed the sum of its compressed parts, including notifications."""
MOST_TEXT, MOST_DESCRIBED, MOST_HELP = 1000, 1024, 1500
MOST_NOTIFICATIONS = 50
_RANKS = {ERROR: 0, WARNING: 1, NOTE: 2}


class _Size:
    """Adds up the compressed sizes of texts, up to a limit."""

    def __init__(self, limit: int) -> None:
        self._press, self._left = zlib.compressobj(), limit

    def takes(self, text: str) -> bool:
        """Add the size of a text; return whether the sum is within the limit."""
        self._left -= len(self._press.compress(text.encode()))
        return self._left >= 0


class _Kept:
    """The worst results of a backend, at most MOST_RESULTS, and the number of omitted ones."""

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        self.example = ""
        self._by_rank: dict[int, list[tuple[str, str, str]]] = {rank: [] for rank in range(len(_RANKS) + 1)}
        self._count = 0

    def add(self, checked: CheckedResult) -> None:
        """Keep a result if its verdict has a level; count adapter errors."""
        verdict = checked.result.verdict
        level = LEVELS[verdict]
        if verdict is Verdict.ADAPTER_ERROR:
            self.broken[verdict] += 1
            self.example = self.example or line(f"{checked.result.case}: {checked.result.message}", MOST_TEXT)
        if level is None:
            return
        rank = len(_RANKS) if checked.accepted else _RANKS[level]
        sentence = checked.result.clauses[0] if checked.result.clauses else ""
        full = self._count >= MOST_RESULTS
        worst = max((index for index, kept in self._by_rank.items() if kept), default=rank) if full else rank
        if full and rank >= worst:
            self.left_out[_named(rank)] += 1
            return
        self._by_rank[rank].append((json_text.text(_result(checked, level)), checked.result.operator, sentence))
        self._count += 1
        if full:
            self._by_rank[worst].pop()
            self._count -= 1
            self.left_out[_named(worst)] += 1

    def ordered(self) -> Iterator[tuple[int, tuple[str, str, str]]]:
        """Yield rank, and JSON, operator version and sentence of each, worst first."""
        for rank, kept in self._by_rank.items():
            yield from ((rank, item) for item in kept)


def _named(rank: int) -> str:
    return [*_RANKS, "expected"][rank]


def report(data: ReportData) -> Iterator[str]:
    """Yield the document."""
    top = {"version": "2.1.0", "$schema": SCHEMA}
    backends = list(data.run.header["backends"])
    first, others = backends[:MOST_RUNS], backends[MOST_RUNS:]
    notes = [f"omitted, because code scanning accepts {MOST_RUNS} runs: {', '.join(others)}"] if others else []
    yield f'{json_text.text(top)[:-1]},"runs":[\n'
    for index, backend in enumerate(first):
        yield ",\n" if index else ""
        yield from _run(data, backend, _Size((MOST_BYTES - MARGIN) // len(first)), [] if index else notes)
    yield "\n]}\n"


def _run(data: ReportData, backend: str, size: _Size, notes: list[str]) -> Iterator[str]:
    """Yield one run; its results are counted while they are written, so rules and notifications follow them."""
    kept = _Kept()
    for checked in data.checked_results():
        if checked.result.backend == backend:
            kept.add(checked)
    rules: dict[str, str] = {}
    shared = [text for text in data.shared(backend) if size.takes(text)]
    count = 0

    def results() -> Iterator[str]:
        nonlocal count
        full = False
        for rank, (text, operator, sentence) in kept.ordered():
            name = rule_id(operator, sentence)
            rule = "" if name in rules else json_text.text(_rule(name, operator, sentence))
            full = full or not size.takes(text + rule)
            if full:
                kept.left_out[_named(rank)] += 1
                continue
            rules.setdefault(name, rule)
            count += 1
            yield text

    yield '{"results":'
    yield from json_text.array(results())
    yield ',\n"tool":{"driver":'
    version = str(data.run.header.get("harness", ""))
    driver = {
        "name": "onnx-conformance",
        "fullName": f"onnx-conformance {version}",
        "version": version,
        "informationUri": REPOSITORY,
    }
    yield f'{json_text.text(driver)[:-1]},"rules":'
    yield from json_text.array(rules.values())
    category = f"onnx-conformance/{quote(line(backend), safe='')}/"
    yield f'}}}},\n"automationDetails":{json_text.text({"id": category})}'
    yield f',\n"invocations":{json_text.text([_invocation(data, kept, count, notes)])}'
    properties = {"failuresShare": shared} if shared else {}
    notes_ = [*profile_rows.sentences(data.summary.profile(backend))]
    properties |= {"profile": notes_} if notes_ else {}
    properties |= {"sample": [in_words(data.samples[backend])]} if backend in data.samples else {}
    yield f',\n"properties":{json_text.text(properties)}}}' if properties else "}"


def _result(checked: CheckedResult, level: str) -> dict[str, Any]:
    result = checked.result
    sentence = result.clauses[0] if result.clauses else ""
    message = [f"{result.verdict} on {line(result.backend, 100)}: {line(result.case)}"]
    message += [checked.status_text] if checked.status_text else []
    message += [line(result.message, 400)] if result.message else []
    message += [f"expected {line(result.expected, 200)}, got {line(result.actual, 200)}"] if result.actual else []
    place = line(result.case, MOST_TEXT)
    print_ = hashlib.sha256(f"{result.backend}\0{result.case}".encode(errors="replace")).hexdigest()[:32]
    record: dict[str, Any] = {
        "ruleId": rule_id(result.operator, sentence),
        "level": NOTE if checked.accepted else level,  # Code scanning ignores suppressions.
        "message": {"text": _message(". ".join(message))},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": path(result)}, "region": {"startLine": 1}},
                "logicalLocations": [{"fullyQualifiedName": place, "kind": "case"}],
            }
        ],
        "partialFingerprints": {"primaryLocationLineHash": f"{print_}:1"},
        "properties": {
            "verdict": str(result.verdict),
            "operator": line(result.operator),
            "form": line(result.form),
            "clauses": [line(clause, MOST_TEXT) for clause in result.clauses],
        },
    }
    if checked.accepted:
        reason = line(checked.status_text, MOST_TEXT)
        record["suppressions"] = [{"kind": "external", "status": "accepted", "justification": reason}]
    return record


def _rule(name: str, operator: str, sentence: str) -> dict[str, Any]:
    plain = operator.rpartition("/")[0] or operator or "an operator"
    plain = line(plain, 100)
    text = line(sentence, MOST_TEXT) if sentence else f"The specification of {plain}"
    page = links.page(operator)
    help_ = f"The specification of {plain}: {quoted(text)}" if sentence else text
    return {
        "id": name,
        "shortDescription": {"text": _message(text)},
        "fullDescription": {"text": _message(help_)},
        "help": {"text": _message(f"{help_}. {page}", MOST_HELP)},
        "helpUri": page,
        "defaultConfiguration": {"level": ERROR},
        "properties": {"tags": ["onnx", plain]},
    }


def rule_id(operator: str, sentence: str) -> str:
    """Return the id of a sentence of an operator's text: the same in every version that has it, and in every run."""
    plain = operator.rpartition("/")[0] or operator or "operator"
    if not sentence:
        return f"{line(plain, 100)}/text"
    words = " ".join(sentence.split())
    short = "-".join(re.findall(r"[a-z0-9]+", words.lower())[:6])[:60]
    return f"{line(plain, 100)}/{short}-{hashlib.sha256(words.encode(errors='replace')).hexdigest()[:8]}"


def path(result: Result) -> str:
    """Return the path under which code scanning shows a case: its id, because no file is at fault."""
    parts = [part for part in line(result.case, MOST_TEXT).split("/") if part not in {"", ".", ".."}]
    return quote("/".join(parts) or "case", safe="/@")


def _invocation(data: ReportData, kept: _Kept, count: int, notes: list[str]) -> dict[str, Any]:
    lines = [(ERROR, fault) for fault in data.faults]
    if kept.broken:
        lines.append((ERROR, f"{kept.broken.total()} cases have an adapter error, the first is {kept.example}"))
    lines += [(WARNING, text) for text in notes]
    if kept.left_out:
        left = ", ".join(f"{number} {name}" for name, number in kept.left_out.items())
        lines.append((WARNING, f"omitted, because code scanning limits results and bytes: {left}"))
    if count > SHOWN_RESULTS:
        lines.append((NOTE, f"of {count} results, GitHub shows {SHOWN_RESULTS}"))
    lines += [(ERROR, problem) for problem in (data.gate.problems if data.gate else ())]
    if len(lines) > MOST_NOTIFICATIONS:
        lines[MOST_NOTIFICATIONS:] = [(WARNING, f"and {len(lines) - MOST_NOTIFICATIONS} more notifications")]
    times = {
        "startTimeUtc": moment(data.run.header.get("started")),
        "endTimeUtc": moment((data.run.footer or {}).get("finished")),
    }
    return {
        "executionSuccessful": data.run.complete and not kept.broken and not data.faults,
        "toolExecutionNotifications": [
            {"level": level, "message": {"text": _message(line(text, MOST_TEXT))}} for level, text in lines
        ],
        **{name: f"{when:%Y-%m-%dT%H:%M:%S}Z" for name, when in times.items() if when},
    }


def _message(text: str, limit: int = MOST_DESCRIBED) -> str:
    """Return a text without syntax that readers take for links or placeholders."""
    plain = clean(text).replace("](", "] (")
    doubled = plain.replace("{", "{{").replace("}", "}}")
    over = len(doubled) - limit
    return _message(plain[: len(plain) - (over + 1) // 2], limit) if over > 0 else doubled
