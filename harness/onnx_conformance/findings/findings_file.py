# SPDX-License-Identifier: Apache-2.0
"""`findings.json`: the findings of a project, with the script of each.

Each finding is one line, so a review shows which findings changed. The file contains no derived data. Scripts share
paragraphs: `pieces` contains those that several scripts have, and a paragraph refers to texts of its finding, for
example as `⟨title⟩`. `write_derived` writes README.md and the scripts as files.

The file may come from an untrusted source, so its content is validated, cleaned and limited in size.
"""

from __future__ import annotations

import difflib
import functools
import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import fastjsonschema

from onnx_conformance.base import atomic_file, schemas
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import Verdict, clean, line
from onnx_conformance.findings.causes import related
from onnx_conformance.findings.finding import (
    MOST_IDS,
    OPEN,
    SCRIPTS,
    Example,
    FailingCases,
    Finding,
    Findings,
    History,
    Identity,
)
from onnx_conformance.results.severity import Nature, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

FORMAT = 2
FILE = "findings.json"
MOST_SCRIPT = 200_000
"""Maximum length of a script, in characters."""
MOST_BYTES = 200 << 20
"""Maximum size of the file, in bytes. Five thousand findings need less than a tenth of it."""
PARAGRAPH = "\n\n"
"""The separator between the paragraphs of a script."""
MOST_TEXT = 30_000
"""Maximum length of a model, in characters; other texts are shorter."""


class FindingsError(HarnessError):
    """The findings of a folder cannot be read or written. The message contains the reason."""


def no_such_finding(name: str, known: Iterable[str]) -> FindingsError:
    """Return the error on an id that is not known, with the most similar one of those that are."""
    near = difflib.get_close_matches(name, list(known), 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return FindingsError("no-such-finding", f"there is no finding {line(name)}{hint}")


# Read


def read(folder: Path) -> Findings:
    """Return the findings of a folder.

    Raises:
        FindingsError: there is no file, or it is damaged or has another format.
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
            raise FindingsError(
                "finding-id-doubled", f"{path}: two findings have the id {item.id!r}; make the folder again"
            )
        known.add(item.id)
    runtimes = {line(name, 80): _by_name(members, 200) for name, members in data.get("runtimes", {}).items()}
    records = [record for name in ("findings", "apart") for record in data.get(name, ())]
    scripts = {
        item.id: _script(path, record, data.get("pieces", ())) for item, record in zip(found, records, strict=True)
    }
    return Findings(_by_name(data.get("suite", {}), 200), runtimes, tuple(related(found)), scripts)


def _script(path: Path, record: Mapping[str, Any], pieces: Sequence[str]) -> str:
    """Return the script of a finding.

    Raises:
        FindingsError: the script refers to a piece that does not exist, or is too long.
    """
    paragraphs: list[str] = []
    for part in record.get("script", ()):
        if isinstance(part, int):
            if part >= len(pieces):
                raise FindingsError(
                    "script-piece-missing",
                    f"{path}: {record['id']}: there is no piece {part} of scripts, only {len(pieces)}",
                )
            paragraphs.append(pieces[part])
        else:
            texts = _texts_of_record(record)
            paragraphs.append(_MARKER.sub(lambda match, texts=texts: texts[match[1]], part))  # type: ignore[misc]
    script = PARAGRAPH.join(paragraphs)
    if len(script) > MOST_SCRIPT:
        raise FindingsError(
            "script-too-long", f"{path}: the script of {record['id']} is longer than {MOST_SCRIPT:,} characters"
        )
    return script


_MARKER = re.compile("⟨(title|clause|model|made)⟩")


def _texts_of_record(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of a finding to which its script may refer, by name."""
    example = record.get("example", {})
    texts = {"title": record["title"], "clause": record.get("clause", "")}
    return texts | {name: example.get(name, "") for name in ("model", "made")}


_APART = "it is not counted"
"""The reason why a finding is not counted, if the file does not contain one."""


def _parsed(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise FindingsError(
                "findings-too-large", f"{path} is larger than {MOST_BYTES >> 20} MiB, the maximum for findings"
            )
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise FindingsError(
            "findings-not-readable",
            f"cannot read {path}: {error.strerror}; `onnx-conformance findings RESULTS --folder {path.parent}` makes "
            "it",
        ) from error
    except UnicodeDecodeError as error:
        raise FindingsError("findings-not-utf8", f"{path} is not UTF-8: {error.reason}") from error
    try:
        data = json.loads(text)
        _validator()(data)
    except fastjsonschema.JsonSchemaException as error:
        why = line(str(error).replace("data", FILE, 1), 300)
        raise FindingsError("findings-invalid", f"{path}: {why}; make the folder again") from None
    except (ValueError, RecursionError) as error:
        raise FindingsError("findings-not-json", f"{path} is not JSON: {line(error, 120)}") from None
    checked: dict[str, Any] = data
    return checked


@functools.cache
def _validator() -> Callable[[object], object]:
    compiled: Callable[[object], object] = fastjsonschema.compile(schemas.as_draft_7("findings"), use_default=False)
    return compiled


def _finding(record: Mapping[str, Any], apart: str) -> Finding:
    cases, example = record.get("cases", {}), record.get("example", {})
    ids = tuple(clean(_id(record["operator"], item), 600) for item in cases.get("ids", ())[:MOST_IDS])
    versions = tuple(sorted(set(record.get("versions", ()))))
    texts = {
        name: line(record.get(name, ""), most)
        for name, most in (
            ("id", 200), ("backend", 80), ("runtime", 80), ("version", 80), ("operator", 200), ("title", 600),
            ("clause", 2000), ("force", 40), ("chosen", 40), ("cause", 80),
        )
    }  # fmt: skip
    lists = {
        name: tuple(line(item, 200) for item in record.get(name, ())[:64])
        for name in ("conditions", "types", "forms", "guilty")
    }
    confirmed, others = record.get("confirmed", {}), list(record.get("others", {}).items())
    first = {"version": texts["version"], "date": str(confirmed.get("date", "")), "state": OPEN}
    return Finding(
        id=texts["id"],
        title=texts["title"],
        identity=Identity(
            backend=texts["backend"],
            operator=texts["operator"],
            kind=Verdict(record["kind"]),
            cause=texts["cause"],
            apart=(line(record.get("apart", ""), 200) or apart) if apart else "",
        ),
        cases=FailingCases(
            count=cases.get("count", len(ids)),
            ids=ids,
            conditions=lists["conditions"],
            clause=texts["clause"],
            force=texts["force"],
            chosen=texts["chosen"],
            versions=versions,
            types=lists["types"],
            forms=lists["forms"],
        ),
        example=Example(
            case=clean(example.get("case", ""), 600),
            model=clean(example.get("model", ""), MOST_TEXT),
            inputs=_values(example.get("inputs", {})),
            expected=_values(example.get("expected", {})),
            given=_values(example.get("given", {})),
            message=clean(example.get("message", "")),
            made=clean(example.get("made", ""), MOST_TEXT),
            guilty=lists["guilty"],
            others=tuple(_other(line(name, 200), line(text, 1000)) for name, text in others[:50]),
        ),
        history=History(
            runtime=texts["runtime"] or texts["backend"],
            version=texts["version"],
            state=record.get("state", OPEN),
            events=_records(record.get("history", [first])[:100], ("version", "date", "state")),
            confirmed={
                name: clean(value, 2000) if isinstance(value, str) else value
                for name, value in confirmed.items()
                if name in {"date", "version", "exit", "said"}
            },
            since={
                name: [line(item, 40) for item in record["since"].get(name, ())[:100]]
                for name in ("failing", "passing")
                if record.get("since")
            },
            issue=_address(record.get("issue", "")),
            reported=_ledger(record.get("reported", {})),
            answered=_ledger(record.get("answered", {})),
        ),
        severity=_severity(record, texts["force"]),
    )


def _ledger(entry: Mapping[str, str]) -> dict[str, str]:
    """Return an entry on a report or its answer, with a link only if it is safe."""
    texts = {name: line(entry.get(name, ""), 600) for name in ("state", "version", "reason", "date")}
    return {name: text for name, text in {**texts, "link": _address(entry.get("link", ""))}.items() if text}


def _severity(record: Mapping[str, Any], force: str) -> Severity:
    """Return the severity of a finding. A file of an earlier release of this project does not have it."""
    said = record.get("severity")
    if said is None:
        return Severity(Nature.INVALID if force or record["kind"] == Verdict.ACCEPTED_INVALID else Nature.UNCOMMON)
    nature = Nature(said.get("nature", Nature.UNCOMMON))
    return Severity(
        nature, said.get("models", 0), said.get("newest", True), said.get("having", 0), said.get("imprecise", False)
    )


def _records(items: Iterable[Mapping[str, str]], names: tuple[str, ...]) -> tuple[dict[str, str], ...]:
    return tuple({name: line(item.get(name, ""), 600) for name in names} for item in items)


def _id(operator: str, text: str) -> str:
    """Return the id of a case. The file omits the operator if it is that of the finding: 18/uneven."""
    return f"{operator}/{text}" if text[:1].isdigit() else text


def _other(runtime: str, text: str) -> dict[str, str]:
    """Return the answer of another runtime, from "onnxruntime 1.32.0" and "wrong_value float[1] 3"."""
    backend, _, version = runtime.rpartition(" ")
    verdict, _, given = text.partition(" ")
    return {"backend": backend, "version": version, "verdict": verdict, "given": given}


def _values(values: Mapping[str, str]) -> dict[str, str]:
    return {clean(name, 200): clean(text, 4000) for name, text in list(values.items())[:100]}


def _by_name(values: Mapping[str, str], most: int) -> dict[str, str]:
    return {line(name, 80): line(text, most) for name, text in values.items()}


def _address(text: str) -> str:
    """Return the address if it is safe for a link (https), or an empty text."""
    address = line(text, 500)
    return address if address.startswith("https://") and " " not in address else ""


# Write


def write(folder: Path, findings: Findings) -> None:
    """Write findings.json.

    Raises:
        FindingsError: the file cannot be written.
    """
    pieces, scripts = _shared(findings)
    data = {
        "format": FORMAT,
        "suite": dict(findings.suite),
        "runtimes": {name: dict(item) for name, item in sorted(findings.runtimes.items())},
        "pieces": pieces,
        "findings": [as_json(item, scripts[item.id]) for item in findings.counted],
        "apart": [as_json(item, scripts[item.id]) for item in findings.apart],
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        atomic_file.write(folder / FILE, _lines(data))
    except OSError as error:
        raise FindingsError(
            "findings-not-writable", f"cannot write {error.filename or folder}: {error.strerror}"
        ) from error


def write_derived(folder: Path, findings: Findings, readme: str) -> None:
    """Write the files that are derived from findings.json: README.md, and a file for each script.

    Raises:
        FindingsError: a file cannot be written.
    """
    try:
        (folder / SCRIPTS).mkdir(parents=True, exist_ok=True)
        for item in findings.findings:
            if text := findings.scripts.get(item.id, ""):
                atomic_file.write(folder / item.script, [text])
        atomic_file.write(folder / "README.md", [readme])
    except OSError as error:
        raise FindingsError(
            "findings-not-writable", f"cannot write {error.filename or folder}: {error.strerror}"
        ) from error


def _lines(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield JSON with a line for each item of the lists."""
    before = "{\n"
    for name, value in data.items():
        yield f"{before}{json.dumps(name)}: "
        before = ",\n"
        if isinstance(value, list):
            yield "[\n" + ",\n".join(map(_dense, value)) + "\n]"
        else:
            yield _dense(value)
    yield "\n}\n"


def _dense(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _shared(findings: Findings) -> tuple[list[str], dict[str, list[int | str]]]:
    """Return the paragraphs that several scripts have, and the parts of the script of each finding."""
    split = {name: text.split(PARAGRAPH) for name, text in findings.scripts.items() if text}
    counts = Counter(text for texts in split.values() for text in texts)
    numbers: dict[str, int] = {}
    parts: dict[str, list[int | str]] = {}
    for item in findings.findings:
        own: list[int | str] = []
        example = item.example
        texts = {"title": item.title, "clause": item.cases.clause, "model": example.model, "made": example.made}
        for text in split.get(item.id, ()):
            if counts[text] > 1 or "⟨" in text:  # A piece is not searched for markers.
                own.append(numbers.setdefault(text, len(numbers)))
            else:
                own.append(_marked(text, texts))
        parts[item.id] = own
    return list(numbers), parts


def _marked(text: str, texts: Mapping[str, str]) -> str:
    """Return a paragraph in which markers replace texts of its finding."""
    for name, part in texts.items():
        if len(part) > len(f"⟨{name}⟩"):
            text = text.replace(part, f"⟨{name}⟩")
    return text


def as_json(finding: Finding, script: Sequence[int | str]) -> dict[str, Any]:
    """Return a finding in the format of the file: without members that are empty or can be derived.

    Args:
        finding: the finding.
        script: the parts of its script.
    """
    identity, cases, example, history = finding.identity, finding.cases, finding.example, finding.history
    first = {"version": history.version, "date": str(history.confirmed.get("date", "")), "state": OPEN}
    events = history.events or None  # Without any, the list must be in the file, for `first` is derived.
    return _without_empty(
        {
            "id": finding.id,
            "backend": identity.backend,
            "runtime": "" if history.runtime == identity.backend else history.runtime,
            "version": history.version,
            "operator": identity.operator,
            "kind": identity.kind,
            "title": finding.title,
            "conditions": cases.conditions,
            "clause": cases.clause,
            "force": cases.force,
            "chosen": cases.chosen,
            "versions": cases.versions,
            "types": cases.types,
            "forms": cases.forms,
            "example": {
                "case": example.case,
                "model": example.model,
                "inputs": dict(example.inputs),
                "expected": dict(example.expected),
                "given": dict(example.given),
                "message": example.message,
                "made": example.made,
            },
            "cause": identity.cause,
            "confirmed": dict(history.confirmed),
            "others": {
                f"{item['backend']} {item['version']}": " ".join(filter(None, (item["verdict"], item["given"])))
                for item in example.others
            },
            "since": dict(history.since),
            "state": "" if history.state == OPEN else history.state,
            "history": () if history.events == (first,) else events,
            "issue": history.issue,
            "reported": dict(history.reported),
            "answered": dict(history.answered),
            "severity": {
                "nature": str(finding.severity.nature),
                "models": finding.severity.models,
                "having": finding.severity.having,
                **({"imprecise": True} if finding.severity.imprecise else {}),
                "newest": finding.severity.newest,
            },
            "apart": identity.apart,
            "guilty": example.guilty,
            "cases": {"count": cases.count, "ids": [item.removeprefix(f"{identity.operator}/") for item in cases.ids]},
            "script": list(script),
        }
    )


def _without_empty(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object without its empty members, at any depth. None represents an empty list."""
    kept = {name: _without_empty(value) if isinstance(value, dict) else value for name, value in data.items()}
    kept = {name: value for name, value in kept.items() if value not in ("", [], (), {})}
    return {name: [] if value is None else value for name, value in kept.items()}
