# SPDX-License-Identifier: Apache-2.0
"""Expectations: the TOML file of verdicts that a runtime's author currently accepts.

backend = "onnxruntime"
minimum = 140000

[[expect]]
case = "ai.onnx/Split/18/uneven_two*"
verdict = "crash"
reason = "divides by the size of a chunk"
link = "https://..."
finding = "onnxruntime-split-crash-c08d63"
expires = 2027-01-31

[attempted]
"ai.onnx/Split/18" = 614
"""

from __future__ import annotations

import datetime as dt
import difflib
import fnmatch
import functools
import platform
import re
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from onnx_conformance.base import globs
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import Result, Verdict, line, split_operator
from onnx_conformance.declare import Tag
from onnx_conformance.forms import table
from onnx_conformance.gate import toml_blocks
from onnx_conformance.specification import schema
from onnx_conformance.specification.element_types import ELEMENT_TYPES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

NEVER_EXPECTED = {Verdict.LENIENT, Verdict.KNOWS_LESS, Verdict.UNSPECIFIED, Verdict.ADAPTER_ERROR, Verdict.FLAKY}
"""Verdicts that do not rate a runtime, and FLAKY: its entry has the worst verdict and `flaky = true`."""

SELECTORS = ("case", "versions", "type", "form", "tag", "clause")
"""Keys that select cases."""

PLATFORMS = ("Linux", "Darwin", "Windows")
_DOMAIN = "ai.onnx"
MOST_PARTS = 50
"""Maximum number of parts of a dotted key, in a file whose keys have none."""
_LONG_KEY = re.compile(rf"(?:[\w-]{{1,99}}|\"\"|'')(?:[ \t]?\.[ \t]?(?:[\w-]{{1,99}}|\"\"|'')){{{MOST_PARTS}}}")
MOST_CASES = 10**12
"""Maximum number of cases that a file may require; a larger number is a typing error."""
MOST_OF_A_RANGE = 200
"""Maximum number of characters of a range of versions."""


class ExpectationsError(HarnessError):
    """An expectations file cannot be used; the text contains the line, the key, and the correction."""


@dataclass(frozen=True)
class Entry:
    """The verdict that is accepted for the cases that match every selector of the entry.

    Attributes:
        verdict: the accepted verdict.
        reason: why it is accepted.
        line: line of its [[expect]] in the file, from 1.
        case: globs over case ids; at least one must match.
        versions: versions of the operator; None: all.
        type: glob over the type that a case is expanded to, such as float16.
        form: glob over forms.
        tag: glob over tags; at least one must match.
        clause: text that one of the sentences contains.
        link: link to a discussion of the failure.
        finding: id of the finding; see `onnx-conformance findings`.
        expires: the last day on which the entry is valid.
        when: conditions on the run: ranges of `backend` and `python` versions, `platform`.
        flaky: the verdict differs from attempt to attempt; `verdict` is the worst one.
    """

    verdict: Verdict
    reason: str
    line: int
    case: tuple[str, ...] = ("*",)
    versions: SpecifierSet | None = None
    type: str = ""
    form: str = ""
    tag: str = ""
    clause: str = ""
    link: str = ""
    finding: str = ""
    expires: dt.date | None = None
    when: Mapping[str, str] = field(default_factory=dict)
    flaky: bool = False

    def matches(self, result: Result) -> bool:
        """Return whether a result matches every selector."""
        return self._pattern.match(result.case) is not None and self.matches_except_case(result)

    def matches_except_case(self, result: Result) -> bool:
        """Return whether a result matches every selector except `case`."""
        since = result.operator.rpartition("/")[2]
        return (
            (self.versions is None or (since.isdigit() and self.versions.contains(since)))
            and (not self.type or fnmatch.fnmatchcase(result.element_type, self.type))
            and (not self.form or fnmatch.fnmatchcase(result.form, self.form))
            and (not self.tag or any(fnmatch.fnmatchcase(tag, self.tag) for tag in result.tags))
            and (not self.clause or any(self.clause in clause for clause in result.clauses))
        )

    def expired(self, today: dt.date) -> bool:
        """Return whether its last day is over."""
        return self.expires is not None and self.expires < today

    @functools.cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(map(fnmatch.translate, self.case)))

    def specificity(self, case: str) -> tuple[bool, int, int]:
        """Return the specificity for a matching case: complete id, number of selectors, of literal characters."""
        others = (self.versions, self.type, self.form, self.tag, self.clause)
        return max(
            (globs.stem(glob) == glob, sum(bool(item) for item in others), len(re.sub(r"[*?]|\[[^]]*\]", "", glob)))
            for glob in self.case
            if fnmatch.fnmatchcase(case, glob)
        )

    def applies_to(self, header: Mapping[str, Any], backend: str) -> bool:
        """Return whether a run meets the conditions of `when`."""
        hello = header["backends"].get(backend, {})
        versions = {"backend": hello.get("version", ""), "python": hello.get("python") or header.get("python", "")}
        for key, required in self.when.items():
            if key == "platform":
                if header.get("machine", {}).get("system") != required:
                    return False
            elif not _within(versions[key], required):
                return False
        return True


def _within(version: str, specifier: str) -> bool:
    try:
        return SpecifierSet(specifier).contains(Version(version.partition(" ")[0]), prereleases=True)
    except ValueError:
        return False


@dataclass(frozen=True)
class Expectations:
    """A whole file.

    Attributes:
        path: path of the file.
        backend: backend of the verdicts.
        suite: suite that it was written for.
        digest: digest of that suite; empty: any.
        selection: part of the suite that a run must contain, as on the command line; empty: the whole suite.
        minimum: minimum number of cases; with fewer, the suite has shrunk.
        attempted: minimum number of cases that the runtime supports; with fewer, it supports less than before. Only in
            files without `attempted_of`.
        attempted_of: the same by operator version.
        gaps: operator versions that are accepted version gaps.
        entries: in the order of the file.
    """

    path: Path
    backend: str
    suite: str = "generated"
    digest: str = ""
    selection: str = ""
    minimum: int = 0
    attempted: int = 0
    attempted_of: Mapping[str, int] = field(default_factory=dict)
    gaps: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()

    def choose(self, matching: Sequence[Entry], case: str) -> Entry | None:
        """Return the most specific of the entries that match a case.

        Raises:
            ExpectationsError: two equally specific entries contradict each other.
        """
        if not matching:
            return None
        if len(matching) == 1:
            return matching[0]
        ranks = [entry.specificity(case) for entry in matching]
        first, *others = (entry for entry, rank in zip(matching, ranks, strict=True) if rank == max(ranks))
        for other in others:
            if (other.verdict, other.flaky) != (first.verdict, first.flaky):
                raise ExpectationsError(
                    "expectations-ambiguous",
                    f"{self.path}: lines {first.line} and {other.line} both match {line(case)} and are equally "
                    "specific, "
                    f"but expect {first.verdict} and {other.verdict}; make one of them more specific",
                )
        return first


def text_of(path: Path) -> str:
    """Return the text of a file, without a byte order mark.

    Raises:
        ExpectationsError: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8"
        raise ExpectationsError("expectations-not-readable", f"cannot read {path}: {why}") from error


def read(path: Path) -> Expectations:
    """Read a file.

    Raises:
        ExpectationsError: it is missing or malformed.
    """
    return parse(text_of(path), path)


def parse(text: str, path: Path) -> Expectations:
    """Parse the text of a file; `path` is for messages.

    Raises:
        ExpectationsError: it is malformed.
    """
    if (key := _LONG_KEY.search(text)) is not None:  # tomllib takes minutes for a key of 50,000 parts.
        number = text.count("\n", 0, key.start()) + 1
        raise ExpectationsError(
            "expectations-key-too-long",
            f"{path}, line {number}: a key of more than {MOST_PARTS} parts; an entry is a flat table",
        )
    try:
        document = tomllib.loads(text)
    except RecursionError as error:
        raise ExpectationsError(
            "expectations-too-deep", f"{path} is nested too deeply; an entry is a flat table, [[expect]]"
        ) from error
    except ValueError as error:  # Not only a TOMLDecodeError: int() rejects a number with too many digits.
        raise ExpectationsError("expectations-not-toml", f"{path}: {line(error)}") from error
    places = _Places(path, text)
    keys = dict(document)
    blocks = keys.pop("expect", [])
    if not isinstance(blocks, list) or len(places.entries) != len(blocks):
        raise places.error(None, "expect", "write each entry as [[expect]]")
    settings = _checked(keys, _SETTINGS, places, None)
    if "backend" not in settings:
        raise places.error(None, "backend", 'is missing; add the backend of the file: backend = "NAME"')
    if isinstance(settings.get("attempted"), dict):
        settings["attempted_of"] = settings.pop("attempted")
    entries = tuple(_entry(block, index, places) for index, block in enumerate(blocks))
    return Expectations(path=path, entries=entries, **settings)


class _Places:
    """The line numbers of keys in the text."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.sections = toml_blocks.sections(text)
        self.entries = [section for section in self.sections if section.array and section.name == "expect"]

    def line(self, index: int | None, key: str) -> int:
        """Return the line, from 1, of an entry's key, or of the entry; index None: of a key or table of the file."""
        if index is None:
            table = next((section for section in self.sections if section.name == key), None)
            if table is not None:
                return table.line
        section = self.sections[0] if index is None else self.entries[index]
        own = (section.first + begin for name, begin, _ in toml_blocks.keys(section.text) if name == key)
        return next(own, section.line)

    def error(self, index: int | None, key: str, what: str) -> ExpectationsError:
        return ExpectationsError(
            "expectations-invalid", f"{self.path}, line {self.line(index, key)}: {line(repr(key), 80)} {what}"
        )


def _entry(block: Mapping[str, Any], index: int, places: _Places) -> Entry:
    settings = _checked(block, _KEYS, places, index)
    for key in ("verdict", "reason"):
        if key not in settings:
            raise places.error(index, key, "is missing; an entry needs the accepted verdict and a reason")
    if not any(settings.get(key) for key in SELECTORS):
        raise places.error(index, "case", f"is missing; an entry selects cases by one of {', '.join(SELECTORS)}")
    return Entry(line=places.entries[index].line, **settings)


def _checked(
    values: Mapping[str, Any], keys: Mapping[str, Callable[[Any], Any]], places: _Places, index: int | None
) -> dict[str, Any]:
    """Return the values, converted by the function of their key; its ValueError contains the correction."""
    checked = {}
    for key, value in values.items():
        if key not in keys:
            near = difflib.get_close_matches(key, keys, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(keys)}"
            raise places.error(index, key, f"is not a valid key; {hint}")
        try:
            checked[key] = keys[key](value)
        except ValueError as error:
            raise places.error(index, key, f"is {_shown(value)}; {error}") from error
    return checked


def _shown(value: Any) -> str:  # noqa: ANN401 - any value of the file
    try:
        return line(repr(value), 120)
    except ValueError:  # Python does not print numbers with more than some thousand digits.
        return "a number with thousands of digits"


def _text(value: Any) -> str:  # noqa: ANN401 - any value of the file
    if not isinstance(value, str) or not value.strip():
        raise ValueError("expected a non-empty text")
    return value


def _any_text(value: Any) -> str:  # noqa: ANN401
    return _text(value) if value != "" else ""


def _count(value: Any) -> int:  # noqa: ANN401
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_CASES:
        raise ValueError("expected a number of cases")
    return value


def _attempted(value: Any) -> int | dict[str, int]:  # noqa: ANN401
    if not isinstance(value, dict):
        return _count(value)
    for operator, count in value.items():
        try:
            _count(count)
        except ValueError as error:
            shown = line(operator, 80)
            raise ValueError(
                f'{shown} is not a number of cases; write one on each line, such as "ai.onnx/Split/18" = 214'
            ) from error
    return value


def _globs(value: Any) -> tuple[str, ...]:  # noqa: ANN401
    if not isinstance(value, list):
        return (_text(value),)
    if not value:
        raise ValueError("expected a glob over case ids, or a non-empty list of globs")
    return tuple(map(_text, value))


def _gaps(value: Any) -> tuple[str, ...]:  # noqa: ANN401
    if not isinstance(value, list) or not all(isinstance(item, str) and split_operator(item)[1] for item in value):
        raise ValueError('expected a list of operator versions, such as ["ai.onnx/RoiAlign/22"]')
    return tuple(value)


def _verdict(value: Any) -> Verdict:  # noqa: ANN401
    allowed = [verdict for verdict in Verdict if verdict not in NEVER_EXPECTED]
    if value == Verdict.FLAKY:
        raise ValueError("expected the worst of the verdicts, and flaky = true")
    if value not in allowed:
        raise ValueError(f"expected one of {', '.join(allowed)}")
    return Verdict(value)


def _one_of(what: str, names: Callable[[], Iterator[str]]) -> Callable[[Any], str]:
    """Return a check that a glob matches at least one of some names."""

    def check(value: Any) -> str:  # noqa: ANN401
        glob = _text(value)
        known = list(names())
        if not any(fnmatch.fnmatchcase(name, glob) for name in known):
            raise ValueError(f"it can never match, because there is no such {what}; expected one of {', '.join(known)}")
        return glob

    return check


def _types() -> Iterator[str]:
    yield from (row.name for row in ELEMENT_TYPES)


def _type(value: Any) -> str:  # noqa: ANN401
    glob = _text(value)
    return glob if "-" in glob else _one_of("type", _types)(glob)  # seq-float and float-to-int8 consist of them.


def _form(value: Any) -> str:  # noqa: ANN401
    glob = _text(value)
    return glob if table.find(glob) is not None else _one_of("form", lambda: (form.name for form in table.FORMS))(glob)


def _versions(value: Any) -> SpecifierSet:  # noqa: ANN401
    whole = _is_whole(value) or (isinstance(value, str) and value.isdecimal())
    text = f"=={value}" if whole else value
    versions = _range(text, 'expected a version, 13, or a range, ">=11,<18"')
    newest = schema.newest_opset(_DOMAIN)
    if not any(versions.contains(str(opset)) for opset in range(1, newest + 1)):
        raise ValueError(f"it can never match; versions are 1 to {newest}")
    return versions


def _is_whole(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_CASES


def _date(value: Any) -> dt.date:  # noqa: ANN401
    if not isinstance(value, dt.date) or isinstance(value, dt.datetime):
        raise ValueError("expected a date, 2027-01-31 without quotes")  # noqa: TRY004 - like the others
    return value


def _flag(value: Any) -> bool:  # noqa: ANN401
    if not isinstance(value, bool):
        raise ValueError("expected true or false")  # noqa: TRY004
    return value


def _when(value: Any) -> dict[str, str]:  # noqa: ANN401
    if not isinstance(value, dict) or not set(value) <= {"backend", "python", "platform"}:
        raise ValueError('expected a table such as { backend = ">=1.20,<1.31", platform = "Linux", python = ">=3.11" }')
    for key, required in value.items():
        if key == "platform":
            if required not in PLATFORMS:
                raise ValueError(f"platform must be one of {', '.join(PLATFORMS)}; this one is {platform.system()}")
            continue
        _range(required, f'{key} must be a range of versions, such as ">=1.20,<1.31"')
    return value


def _range(value: Any, problem: str) -> SpecifierSet:  # noqa: ANN401
    """Return a range of versions; `problem` is the message of the ValueError for an invalid one."""
    if not isinstance(value, str) or not value.strip() or len(value) > MOST_OF_A_RANGE:
        raise ValueError(problem)
    try:
        return SpecifierSet(value)
    except InvalidSpecifier as error:
        raise ValueError(problem) from error


_SETTINGS: Mapping[str, Callable[[Any], Any]] = {
    "backend": _text,
    "suite": _text,
    "digest": _any_text,
    "selection": _any_text,
    "minimum": _count,
    "attempted": _attempted,
    "gaps": _gaps,
}
_KEYS: Mapping[str, Callable[[Any], Any]] = {
    "case": _globs,
    "versions": _versions,
    "type": _type,
    "form": _form,
    "tag": _one_of("tag", lambda: iter([*map(str, Tag), "official"])),
    "clause": _text,
    "verdict": _verdict,
    "reason": _text,
    "link": _text,
    "finding": _text,
    "expires": _date,
    "when": _when,
    "flaky": _flag,
}
