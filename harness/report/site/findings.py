"""Findings as `findings.json` in a folder has them: faults of runtimes, each with a smallest case and a script.

The folder may come from anywhere: what is used of it is validated, cleaned and bounded.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import fastjsonschema

from harness.findings.finding import BACK, FILE, FIXED, FORMAT, GRAVITY, OPEN, FindingsError
from harness.verdict import clean, line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

MOST_SCRIPT = 200_000
"""Characters of a script."""
MOST_BYTES = 200 << 20
"""Of the file: some ten thousand findings have a tenth."""
MOST_TEXT = 30_000
"""Characters of a model; other texts are shorter."""

KINDS = tuple(map(str, GRAVITY))
"""Names of verdicts, the gravest first."""

_TEXT, _NUMBER = {"type": "string"}, {"type": "integer", "minimum": 0, "maximum": 10**9}
_TEXTS = {"type": "array", "items": _TEXT}
_BY_NAME = {"type": "object", "additionalProperties": _TEXT}


def _object(required: tuple[str, ...], **members: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a schema
    return {"type": "object", "required": list(required), "properties": members}


_FINDING = _object(
    ("id", "backend", "operator", "kind", "title"),
    id={"type": "string", "minLength": 1, "maxLength": 200},
    backend=_TEXT,
    runtime=_TEXT,
    version=_TEXT,
    operator=_TEXT,
    kind={"enum": list(KINDS)},
    title=_TEXT,
    conditions=_TEXTS,
    clause=_TEXT,
    force=_TEXT,
    link=_TEXT,
    versions={"type": "array", "items": _NUMBER},
    types=_TEXTS,
    forms=_TEXTS,
    cases=_object((), count=_NUMBER, ids=_TEXTS),
    example=_object(
        (), case=_TEXT, model=_TEXT, inputs=_BY_NAME, expected=_BY_NAME, given=_BY_NAME, message=_TEXT
    ),
    script=_TEXT,
    confirmed=_object((), date=_TEXT, version=_TEXT, exit={"type": "integer"}, said=_TEXT),
    others={"type": "array", "items": _object((), backend=_TEXT, version=_TEXT, verdict=_TEXT, given=_TEXT)},
    since=_object((), failing=_TEXTS, passing=_TEXTS),
    state={"enum": [OPEN, FIXED, BACK]},
    history={"type": "array", "items": _object((), version=_TEXT, date=_TEXT, state=_TEXT)},
    issue=_TEXT,
    related=_TEXTS,
)  # fmt: skip
SCHEMA = _object(
    ("format", "findings"),
    format={"const": FORMAT},
    findings={"type": "array", "items": _FINDING},
    apart={"type": "array", "items": _FINDING},
)
"""JSON Schema of what is used of the file."""


@dataclass(frozen=True)
class Finding:
    """A distinct fault of a runtime.

    Attributes:
        id: unique.
        backend, version: what fails.
        operator: without a version, ai.onnx/Split.
        kind: one of KINDS.
        title: one line.
        versions: of the operator, in which it fails.
        types: element types with which it fails.
        count: the number of cases that show it.
        state: open, fixed or back.
        apart: whether it breaks a `should`, a reading or a reworded sentence only: listed apart, never counted.
        shown: everything that its page shows, every text clean.
        script: a Python file that shows it; empty: there is none.
    """

    id: str
    backend: str
    version: str
    operator: str
    kind: str
    title: str
    versions: tuple[int, ...]
    types: tuple[str, ...]
    count: int
    state: str
    apart: bool
    shown: Mapping[str, Any] = field(repr=False)
    script: str = field(default="", repr=False)

    @property
    def counted(self) -> bool:
        """Whether it counts among the findings of its runtime."""
        return not self.apart and self.state != FIXED

    @property
    def rank(self) -> tuple[int, int, str]:
        """The sort key: the gravest kind first, then the most cases."""
        return KINDS.index(self.kind), -self.count, self.id


def read(folder: Path) -> tuple[Finding, ...]:
    """Return the findings of a folder, the gravest first.

    Raises:
        FindingsError: the file is missing, damaged or of another form, or a script that it names is not there.
    """
    path = folder / FILE
    data = _parsed(path)
    findings = [
        _finding(record, folder, apart=name == "apart")
        for name in ("findings", "apart")
        for record in data.get(name, ())
    ]
    known: set[str] = set()
    for finding in findings:
        if finding.id in known:
            raise FindingsError(f"{path}: two findings are called {finding.id!r}; make the folder anew")
        known.add(finding.id)
    return tuple(sorted(findings, key=lambda finding: finding.rank))


def _parsed(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise FindingsError(f"{path} is larger than {MOST_BYTES >> 20} MiB, which findings are not")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise FindingsError(f"cannot read {path}: {error.strerror}; name the folder that has {FILE}") from error
    except UnicodeDecodeError as error:
        raise FindingsError(f"{path} is not UTF-8: {error.reason}") from error
    try:
        data = json.loads(text)
        _validator()(data)
    except (ValueError, RecursionError) as error:
        raise FindingsError(f"{path} is no JSON: {line(error, 120)}") from None
    except fastjsonschema.JsonSchemaException as error:
        raise FindingsError(f"{path}: {line(str(error).replace('data', FILE, 1), 300)}; make the folder anew") from None
    checked: dict[str, Any] = data
    return checked


@functools.cache
def _validator() -> Callable[[object], object]:
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", **SCHEMA}
    compiled: Callable[[object], object] = fastjsonschema.compile(schema, use_default=False)
    return compiled


def _finding(record: Mapping[str, Any], folder: Path, *, apart: bool) -> Finding:
    cases = record.get("cases", {})
    example = record.get("example", {})
    texts = {key: line(record.get(key, ""), 600) for key in ("title", "clause", "force", "runtime", "version")}
    lists = {key: [line(item, 200) for item in record.get(key, ())[:64]] for key in ("conditions", "types", "forms")}
    shown: dict[str, Any] = {
        **texts,
        **lists,
        "id": line(record["id"], 200),
        "backend": line(record["backend"], 80),
        "operator": line(record["operator"], 200),
        "kind": record["kind"],
        "state": record.get("state", OPEN),
        "apart": apart,
        "versions": sorted(set(record.get("versions", ()))),
        "link": _address(record.get("link", "")),
        "issue": _address(record.get("issue", "")),
        "count": cases.get("count", len(cases.get("ids", ()))),
        "cases": [clean(item, 600) for item in cases.get("ids", ())[:50]],
        "related": [line(item, 200) for item in record.get("related", ())[:50]],
        "case": clean(example.get("case", ""), 600),
        "model": clean(example.get("model", ""), MOST_TEXT),
        "given": _rows(example.get("given", {})),
        "message": clean(example.get("message", "")),
        "inputs": _rows(example.get("inputs", {})),
        "expected": _rows(example.get("expected", {})),
        "confirmed": {
            key: line(value, 2000) for key, value in record.get("confirmed", {}).items() if key in _CONFIRMED
        },
        "others": [
            _lines(item, ("backend", "version", "verdict", "given"), 600) for item in record.get("others", ())[:50]
        ],
        "since": {
            key: [line(item, 40) for item in record.get("since", {}).get(key, ())[:100]]
            for key in ("failing", "passing")
        },
        "history": [_lines(item, ("version", "date", "state"), 80) for item in record.get("history", ())[:100]],
    }
    return Finding(
        id=shown["id"],
        backend=shown["backend"],
        version=texts["version"],
        operator=shown["operator"],
        kind=record["kind"],
        title=texts["title"],
        versions=tuple(shown["versions"]),
        types=tuple(lists["types"]),
        count=shown["count"],
        state=shown["state"],
        apart=apart,
        shown={key: value for key, value in shown.items() if value not in ("", [], {}, False)},
        script=_script(record.get("script", ""), folder),
    )


_CONFIRMED = ("date", "version", "exit", "said")


def _lines(item: Mapping[str, Any], keys: tuple[str, ...], limit: int) -> dict[str, str]:
    return {key: line(item.get(key, ""), limit) for key in keys}


def _rows(values: Mapping[str, str]) -> list[list[str]]:
    return [[clean(name, 200), clean(text, 4000)] for name, text in list(values.items())[:100]]


def _address(text: str) -> str:
    """Return an address that a link may have: of the web, over TLS."""
    address = line(text, 500)
    return address if address.startswith("https://") and " " not in address else ""


def _script(name: str, folder: Path) -> str:
    """Return the text of a script; no path leads out of the folder."""
    if not name:
        return ""
    try:
        root = folder.resolve()
        path = (root / name).resolve()
        if not path.is_relative_to(root):
            raise FindingsError(f"{folder / FILE} names the script {line(name, 200)!r}, which is not in the folder")
        if path.stat().st_size > MOST_SCRIPT:
            raise FindingsError(f"{path} is longer than {MOST_SCRIPT:,} characters, which scripts are not")
        return clean(path.read_text(encoding="utf-8"), MOST_SCRIPT)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise FindingsError(f"{folder / FILE} names the script {line(name, 200)!r}: {line(why, 120)}") from error
