"""SARIF 2.1.0 for code scanning: a rule is a sentence of an operator's text, a result a case that breaks it.

One SARIF run a backend. What code scanning takes is limited: the worst results are kept, in memory until their run is
written, and what was left out is told as a notification.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from harness.case.case import quoted
from harness.report import json_text
from harness.report.subject import moment
from harness.results.sampling import in_words
from harness.spec import links
from harness.verdict import Verdict, clean, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from harness.report.subject import Held, Subject
    from harness.verdict import Result

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ERROR, WARNING, NOTE = "error", "warning", "note"
LEVELS: Mapping[Verdict, str | None] = {
    Verdict.PASS: None,
    Verdict.WRONG_VALUE: ERROR,
    Verdict.WRONG_SHAPE: ERROR,
    Verdict.WRONG_TYPE: ERROR,
    Verdict.WRONG_COUNT: ERROR,
    Verdict.REFUSED: WARNING,
    Verdict.ACCEPTED_INVALID: NOTE,
    Verdict.CRASH: ERROR,
    Verdict.TIMEOUT: ERROR,
    Verdict.FLAKY: ERROR,
    Verdict.UNSUPPORTED: None,
    Verdict.UNSPECIFIED: None,
    Verdict.ADAPTER_ERROR: None,
}
"""What code scanning calls a verdict; None: it is no result, an adapter's fault is a notification."""

MOST_RUNS, MOST_RESULTS, MOST_BYTES = 20, 25_000, 10 * 1000 * 1000
"""What GitHub takes: runs of a file, results of a run, bytes of the file once it is compressed."""
SHOWN_RESULTS = 5_000
"""Of a run, GitHub shows no more."""
MARGIN = 200_000
"""Bytes that the compression of the whole may differ from that of its parts, notifications included."""
MOST_TEXT, MOST_DESCRIBED, MOST_HELP = 1000, 1024, 1500
MOST_NOTIFICATIONS = 50
_RANKS = {ERROR: 0, WARNING: 1, NOTE: 2}


class _Size:
    """Counts what texts come to once they are compressed, up to a limit."""

    def __init__(self, limit: int) -> None:
        self._press, self._left = zlib.compressobj(), limit

    def takes(self, text: str) -> bool:
        """Count a text in; return whether the limit still holds."""
        self._left -= len(self._press.compress(text.encode()))
        return self._left >= 0


class _Kept:
    """The worst results of a backend: at most MOST_RESULTS, and how many were left out."""

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        self.example = ""
        self._by_rank: dict[int, list[tuple[str, str, str]]] = {rank: [] for rank in range(len(_RANKS) + 1)}
        self._count = 0

    def add(self, held: Held) -> None:
        """Take what is a result of the format; of the others, count the faults of an adapter."""
        verdict = held.result.verdict
        level = LEVELS[verdict]
        if verdict is Verdict.ADAPTER_ERROR:
            self.broken[verdict] += 1
            self.example = self.example or line(f"{held.result.case}: {held.result.message}", MOST_TEXT)
        if level is None:
            return
        rank = len(_RANKS) if held.accepted else _RANKS[level]
        sentence = held.result.clauses[0] if held.result.clauses else ""
        full = self._count >= MOST_RESULTS
        worst = max((index for index, kept in self._by_rank.items() if kept), default=rank) if full else rank
        if full and rank >= worst:
            self.left_out[_named(rank)] += 1
            return
        self._by_rank[rank].append((json_text.text(_result(held, level)), held.result.operator, sentence))
        self._count += 1
        if full:
            self._by_rank[worst].pop()
            self._count -= 1
            self.left_out[_named(worst)] += 1

    def ordered(self) -> Iterator[tuple[int, tuple[str, str, str]]]:
        """Yield rank, and JSON, operator version and sentence of each, the worst first."""
        for rank, kept in self._by_rank.items():
            yield from ((rank, item) for item in kept)


def _named(rank: int) -> str:
    return [*_RANKS, "expected"][rank]


def report(subject: Subject) -> Iterator[str]:
    """Yield the document."""
    top = {"version": "2.1.0", "$schema": SCHEMA}
    backends = list(subject.run.header["backends"])
    taken, others = backends[:MOST_RUNS], backends[MOST_RUNS:]
    said = [f"left out, as code scanning takes {MOST_RUNS} runs a file: {', '.join(others)}"] if others else []
    yield f'{json_text.text(top)[:-1]},"runs":[\n'
    for index, backend in enumerate(taken):
        yield ",\n" if index else ""
        yield from _run(subject, backend, _Size((MOST_BYTES - MARGIN) // len(taken)), [] if index else said)
    yield "\n]}\n"


def _run(subject: Subject, backend: str, size: _Size, said: list[str]) -> Iterator[str]:
    """Yield one run: what it holds is counted while it is written, so its rules and notifications stand behind."""
    kept = _Kept()
    for held in subject.held():
        if held.result.backend == backend:
            kept.add(held)
    rules: dict[str, str] = {}
    shared = [text for text in subject.shared(backend) if size.takes(text)]
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
    version = str(subject.run.header.get("harness", ""))
    driver = {"name": "onnx-conformance", "fullName": f"onnx-conformance {version}", "version": version}
    yield f'{json_text.text(driver)[:-1]},"rules":'
    yield from json_text.array(rules.values())
    category = f"onnx-conformance/{quote(line(backend), safe='')}/"
    yield f'}}}},\n"automationDetails":{json_text.text({"id": category})}'
    yield f',\n"invocations":{json_text.text([_invocation(subject, kept, count, said)])}'
    properties = {"failuresShare": shared} if shared else {}
    properties |= {"sample": [in_words(subject.samples[backend])]} if backend in subject.samples else {}
    yield f',\n"properties":{json_text.text(properties)}}}' if properties else "}"


def _result(held: Held, level: str) -> dict[str, Any]:
    result = held.result
    sentence = result.clauses[0] if result.clauses else ""
    message = [f"{result.verdict} on {line(result.backend, 100)}: {line(result.case)}"]
    message += [held.said] if held.said else []
    message += [line(result.message, 400)] if result.message else []
    message += [f"expected {line(result.expected, 200)}, got {line(result.actual, 200)}"] if result.actual else []
    place = line(result.case, MOST_TEXT)
    print_ = hashlib.sha256(f"{result.backend}\0{result.case}".encode(errors="replace")).hexdigest()[:32]
    told: dict[str, Any] = {
        "ruleId": rule_id(result.operator, sentence),
        "level": NOTE if held.accepted else level,  # Code scanning takes no notice of a suppression by itself.
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
    if held.accepted and held.entry is not None:
        told["suppressions"] = [{"kind": "external", "status": "accepted", "justification": line(held.said, MOST_TEXT)}]
    return told


def _rule(name: str, operator: str, sentence: str) -> dict[str, Any]:
    plain = operator.rpartition("/")[0] or operator or "an operator"
    plain = line(plain, 100)
    text = line(sentence, MOST_TEXT) if sentence else f"What the text of {plain} says"
    page = links.page(operator)
    help_ = f"The text of {plain} says: {quoted(text)}" if sentence else text
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
    """Return the name of a sentence of an operator's text: the same in every version that has it, and every run."""
    plain = operator.rpartition("/")[0] or operator or "operator"
    if not sentence:
        return f"{line(plain, 100)}/text"
    words = " ".join(sentence.split())
    short = "-".join(re.findall(r"[a-z0-9]+", words.lower())[:6])[:60]
    return f"{line(plain, 100)}/{short}-{hashlib.sha256(words.encode(errors='replace')).hexdigest()[:8]}"


def path(result: Result) -> str:
    """Return where code scanning is to show a case: its id as a path, for there is no file that is at fault."""
    parts = [part for part in line(result.case, MOST_TEXT).split("/") if part not in {"", ".", ".."}]
    return quote("/".join(parts) or "case", safe="/@")


def _invocation(subject: Subject, kept: _Kept, count: int, said: list[str]) -> dict[str, Any]:
    lines = [(ERROR, fault) for fault in subject.faults]
    if kept.broken:
        lines.append((ERROR, f"{kept.broken.total()} cases tell of a fault of the adapter, first {kept.example}"))
    lines += [(WARNING, text) for text in said]
    if kept.left_out:
        left = ", ".join(f"{number} {name}" for name, number in kept.left_out.items())
        lines.append((WARNING, f"left out, as code scanning takes so many results or bytes only: {left}"))
    if count > SHOWN_RESULTS:
        lines.append((NOTE, f"of {count} results, GitHub shows {SHOWN_RESULTS}"))
    lines += [(ERROR, problem) for problem in (subject.gate.problems if subject.gate else ())]
    if len(lines) > MOST_NOTIFICATIONS:
        lines[MOST_NOTIFICATIONS:] = [(WARNING, f"and {len(lines) - MOST_NOTIFICATIONS} notifications more")]
    times = {
        "startTimeUtc": moment(subject.run.header.get("started")),
        "endTimeUtc": moment((subject.run.footer or {}).get("finished")),
    }
    return {
        "executionSuccessful": subject.run.complete and not kept.broken and not subject.faults,
        "toolExecutionNotifications": [
            {"level": level, "message": {"text": _message(line(text, MOST_TEXT))}} for level, text in lines
        ],
        **{name: f"{when:%Y-%m-%dT%H:%M:%S}Z" for name, when in times.items() if when},
    }


def _message(text: str, limit: int = MOST_DESCRIBED) -> str:
    """Return a text that no reader takes for one with links or placeholders in it."""
    plain = clean(text).replace("](", "] (")
    doubled = plain.replace("{", "{{").replace("}", "}}")
    over = len(doubled) - limit
    return _message(plain[: len(plain) - (over + 1) // 2], limit) if over > 0 else doubled
