"""The file that keeps the findings of a project, findings.json in a folder, with a script for each beside it.

The folder may come from anywhere: what is read of it is validated, cleaned and bounded.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from typing import TYPE_CHECKING, Any

import fastjsonschema

from onnx_conformance.base import atomic_file
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import Verdict, clean, line
from onnx_conformance.findings.finding import BACK, FIXED, GRAVITY, MOST_IDS, OPEN, Example, Finding, Findings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

FORMAT = 1
FILE = "findings.json"
SCRIPTS = "scripts"
MOST_SCRIPT = 200_000
"""Characters of a script."""
MOST_BYTES = 200 << 20
"""Of the file: some ten thousand findings have a tenth."""
MOST_TEXT = 30_000
"""Characters of a model; other texts are shorter."""

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
    kind={"enum": list(map(str, GRAVITY))},
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
        (), case=_TEXT, model=_TEXT, inputs=_BY_NAME, expected=_BY_NAME, given=_BY_NAME, message=_TEXT,
        made=_TEXT,
    ),
    cause=_TEXT,
    script=_TEXT,
    confirmed=_object((), date=_TEXT, version=_TEXT, exit={"type": "integer"}, said=_TEXT),
    others={"type": "array", "items": _object((), backend=_TEXT, version=_TEXT, verdict=_TEXT, given=_TEXT)},
    since=_object((), failing=_TEXTS, passing=_TEXTS),
    state={"enum": [OPEN, FIXED, BACK]},
    history={"type": "array", "items": _object((), version=_TEXT, date=_TEXT, state=_TEXT)},
    issue=_TEXT,
    related=_TEXTS,
    apart=_TEXT,
    guilty=_TEXTS,
)  # fmt: skip
SCHEMA = _object(
    ("format", "findings"),
    format={"const": FORMAT},
    suite=_BY_NAME,
    runtimes={"type": "object", "additionalProperties": _BY_NAME},
    findings={"type": "array", "items": _FINDING},
    apart={"type": "array", "items": _FINDING},
)
"""JSON Schema of what is used of the file."""


class FindingsError(HarnessError):
    """The findings of a folder cannot be read or written; the text says why."""


# Read


def read(folder: Path) -> Findings:
    """Return the findings of a folder.

    Raises:
        FindingsError: there are none, or the file is damaged or of another form.
    """
    path = folder / FILE
    data = _parsed(path)
    found = [
        _finding(record, _APART if name == "apart" else "")
        for name in ("findings", "apart")
        for record in data.get(name, ())
    ]
    known: set[str] = set()
    for item in found:
        if item.id in known:
            raise FindingsError(f"{path}: two findings are called {item.id!r}; make the folder anew")
        known.add(item.id)
    runtimes = {line(name, 80): _by_name(members, 200) for name, members in data.get("runtimes", {}).items()}
    return Findings(_by_name(data.get("suite", {}), 200), runtimes, tuple(found))


def script_of(folder: Path, finding: Finding) -> str:
    """Return the script of a finding; empty: it names none. No path leads out of the folder.

    Raises:
        FindingsError: it is gone, too long, or outside the folder.
    """
    if not finding.script:
        return ""
    said = f"{folder / FILE} names the script {finding.script!r}"
    try:
        root = folder.resolve()
        path = (root / finding.script).resolve()
        if not path.is_relative_to(root):
            raise FindingsError(f"{said}, which is not in the folder")
        if path.stat().st_size > MOST_SCRIPT:
            raise FindingsError(f"{path} is longer than {MOST_SCRIPT:,} characters, which scripts are not")
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise FindingsError(f"{said}: {line(why, 120)}") from error


_APART = "it is not counted"
"""Why a finding is apart, where the file does not say so."""


def _parsed(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise FindingsError(f"{path} is larger than {MOST_BYTES >> 20} MiB, which findings are not")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise FindingsError(
            f"cannot read {path}: {error.strerror}; `onnx-conformance findings RESULTS --folder {path.parent}` makes it"
        ) from error
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


def _finding(record: Mapping[str, Any], apart: str) -> Finding:
    cases, example = record.get("cases", {}), record.get("example", {})
    ids = tuple(clean(item, 600) for item in cases.get("ids", ())[:MOST_IDS])
    members: dict[str, Any] = {
        name: line(record.get(name, ""), most)
        for name, most in (
            ("id", 200), ("backend", 80), ("runtime", 80), ("version", 80), ("operator", 200), ("title", 600),
            ("clause", 2000), ("force", 40), ("cause", 80), ("script", 300),
        )
    }  # fmt: skip
    members |= {
        name: tuple(line(item, 200) for item in record.get(name, ())[:64])
        for name in ("conditions", "types", "forms", "related", "guilty")
    }
    return Finding(
        **members,
        kind=Verdict(record["kind"]),
        link=_address(record.get("link", "")),
        versions=tuple(sorted(set(record.get("versions", ())))),
        count=cases.get("count", len(ids)),
        ids=ids,
        example=Example(
            case=clean(example.get("case", ""), 600),
            model=clean(example.get("model", ""), MOST_TEXT),
            inputs=_values(example.get("inputs", {})),
            expected=_values(example.get("expected", {})),
            given=_values(example.get("given", {})),
            message=clean(example.get("message", "")),
            made=clean(example.get("made", ""), MOST_TEXT),
        ),
        confirmed={
            name: clean(value, 2000) if isinstance(value, str) else value
            for name, value in record.get("confirmed", {}).items()
            if name in {"date", "version", "exit", "said"}
        },
        others=_records(record.get("others", ())[:50], ("backend", "version", "verdict", "given")),
        since={
            name: [line(item, 40) for item in record["since"].get(name, ())[:100]]
            for name in ("failing", "passing")
            if record.get("since")
        },
        state=record.get("state", OPEN),
        history=_records(record.get("history", ())[:100], ("version", "date", "state")),
        issue=_address(record.get("issue", "")),
        apart=(line(record.get("apart", ""), 200) or apart) if apart else "",
    )


def _records(items: Iterable[Mapping[str, str]], names: tuple[str, ...]) -> tuple[dict[str, str], ...]:
    return tuple({name: line(item.get(name, ""), 600) for name in names} for item in items)


def _values(values: Mapping[str, str]) -> dict[str, str]:
    return {clean(name, 200): clean(text, 4000) for name, text in list(values.items())[:100]}


def _by_name(values: Mapping[str, str], most: int) -> dict[str, str]:
    return {line(name, 80): line(text, most) for name, text in values.items()}


def _address(text: str) -> str:
    """Return an address that a link may have: of the web, over TLS."""
    address = line(text, 500)
    return address if address.startswith("https://") and " " not in address else ""


# Write


def write(folder: Path, findings: Findings, scripts: Mapping[str, str], texts: Iterable[tuple[str, str]]) -> None:
    """Write the findings of a folder, their scripts, and other texts by file name.

    Raises:
        FindingsError: it cannot be written.
    """
    data = {
        "format": FORMAT,
        "suite": dict(findings.suite),
        "runtimes": {name: dict(item) for name, item in sorted(findings.runtimes.items())},
        "findings": [as_json(item) for item in findings.counted],
        "apart": [as_json(item) for item in findings.apart],
    }
    try:
        (folder / SCRIPTS).mkdir(parents=True, exist_ok=True)
        for name, text in scripts.items():
            atomic_file.write(folder / SCRIPTS / f"{name}.py", [text])
        atomic_file.write(folder / FILE, [json.dumps(data, indent=1, ensure_ascii=False), "\n"])
        for name, text in texts:
            atomic_file.write(folder / name, [text])
    except OSError as error:
        raise FindingsError(f"cannot write {error.filename or folder}: {error.strerror}") from error


def as_json(finding: Finding) -> dict[str, Any]:
    """Return a finding as it stands in the file."""
    data = dataclasses.asdict(finding)
    data["cases"] = {"count": data.pop("count"), "ids": data.pop("ids")}
    if not finding.apart:
        del data["apart"]
    if not finding.guilty:
        del data["guilty"]
    if not finding.example.made:
        del data["example"]["made"]
    return data
