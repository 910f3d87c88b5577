# SPDX-License-Identifier: Apache-2.0
"""Rewrites an expectations file so that a run passes its gate; entries that still apply are kept.

The file is changed section by section, as text: reasons, links, comments and order are kept.
"""

from __future__ import annotations

import fnmatch
import functools
import re
import textwrap
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from onnx_conformance.base import atomic_file
from onnx_conformance.base.globs import literal
from onnx_conformance.base.printing import quoted
from onnx_conformance.base.signature import signature
from onnx_conformance.base.verdict import WRONG, Result, Verdict, line, natural
from onnx_conformance.gate import expectations, toml_blocks
from onnx_conformance.gate.expectations import SELECTORS, Entry, Expectations, ExpectationsError
from onnx_conformance.gate.gate import Gate, GateStatus, check_gated, status_of, worst
from onnx_conformance.gate.glob_cover import family, fold
from onnx_conformance.results import sampling

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from onnx_conformance.results.stream import Run

_ABOVE_ATTEMPTED = (
    "# Number of supported cases. The gate is closed if there are fewer; `expectations update` updates the numbers."
)
_ABOVE_GAPS = "# Versions without support, although an earlier version with the same meaning has it; see `gaps`."
_SHRUNK = re.compile(r"#\s*\d+ until \d{4}-\d\d-\d\d: ")
"""A comment about a number that was lowered."""


@dataclass
class EntryResults:
    """The results of the cases that one entry applies to, or of the cases without an entry.

    Attributes:
        met: results with the verdict of the entry.
        improved: failures with a better verdict.
        new: failures with a different or worse verdict.
        deviates: whether there are results other than `met`.
    """

    met: list[Result] = field(default_factory=list)
    improved: list[Result] = field(default_factory=list)
    new: list[Result] = field(default_factory=list)
    deviates: bool = False


def renew(
    path: Path, run: Run, backend: str, today: dt.date, *, new: str = "", fewer: str = ""
) -> tuple[str, list[str]]:
    """Return the new text of a file, and a line for each change.

    Args:
        path: path of the file; it may be missing.
        run: a complete run.
        backend: backend for a new file.
        today: entries that expire before this day have expired.
        new: the reason for accepting failures without an entry; empty: they are an error.
        fewer: the reason why the run has fewer cases or attempted cases; empty: this is an error.

    Raises:
        ExpectationsError: there are such failures or fewer cases, but no reason; or the run was cut off.
    """
    if not run.complete:
        raise ExpectationsError("gate-of-cut-off-run", run.cut_off)
    check_gated(run.header)
    text = expectations.text_of(path) if path.exists() else _new_file(run, backend)
    known = expectations.parse(text, path)
    return _Update(known, text, run, today, fewer).text_and_changes(new)


def write(path: Path, text: str) -> None:
    """Replace a file atomically.

    Raises:
        ExpectationsError: it cannot be written.
    """
    try:
        atomic_file.write(path, [text])
    except OSError as error:
        raise ExpectationsError("expectations-not-writable", f"cannot write {path}: {error.strerror}") from error


def _new_file(run: Run, backend: str) -> str:
    keys = {"backend": backend, "suite": str(run.header["suite"]["name"])}
    if selection := sampling.selected(run.header, backend):
        keys["selection"] = selection
    return "\n".join([*(f"{key} = {toml_blocks.quoted(text)}" for key, text in keys.items()), "minimum = 0", ""])


class _Update:
    def __init__(self, known: Expectations, text: str, run: Run, today: dt.date, fewer: str) -> None:
        self.known, self.run, self.today, self.fewer = known, run, today, fewer
        self.sections = toml_blocks.sections(text)
        own = (result for result in run.results() if result.backend == known.backend)
        self.results = sorted(own, key=lambda result: result.case)  # With several processes, their order is random.
        self.gate = Gate(known, run.header, today)
        self.changes: list[str] = []
        self.by_entry: dict[int, EntryResults] = {}
        self.by_family: dict[str, list[Result]] = {}
        for result in self.results:
            self.gate.add(result)
            self._classify(result)
            if result.verdict.scored:
                self.by_family.setdefault(family(result.case), []).append(result)

    def _classify(self, result: Result) -> None:
        entry = self.gate.entry(result)
        own = self.by_entry.setdefault(entry.line if entry else 0, EntryResults())
        if not result.verdict.scored and (entry is None or result.verdict is not entry.verdict):
            return
        status = status_of(entry, result)
        expired = entry is not None and entry.expired(self.today)
        if status is GateStatus.MET and not expired:
            own.met.append(result)
            return
        own.deviates = True
        if status is GateStatus.IMPROVED and not expired:
            own.improved.append(result)
        elif result.verdict is not Verdict.PASS:
            own.new.append(result)

    def text_and_changes(self, reason: str) -> tuple[str, list[str]]:
        """Return the text and the changes; with exact ids if the globs of several entries would conflict."""
        self._refuse(reason)
        for exact in (False, True):
            self.changes = []
            text = "".join(self._parts(reason, exact=exact))
            gate = Gate(expectations.parse(text, self.known.path), self.run.header, self.today)
            try:
                for result in self.results:
                    gate.add(result)
                if gate.finish(complete=True):
                    return text, self.changes
            except ExpectationsError:
                if exact:
                    raise
        raise ExpectationsError(
            "gate-still-closed",
            f"{self.known.path}: the gate would still be closed: {'; '.join(gate.problems) or 'see `gate`'}",
        )

    @property
    def _new(self) -> list[Result]:
        """The failures without an accepting entry, in the order of their ids."""
        return sorted((result for own in self.by_entry.values() for result in own.new), key=lambda result: result.case)

    @property
    def _lowered(self) -> dict[str, tuple[int, int]]:
        """The numbers that are lower than the file requires: the required and the actual number, by name."""
        required = {
            "the number of cases": (self.known.minimum, len(self.results)),
            "the number of attempted cases": (self.known.attempted, self.gate.attempted.total()),
            **{name: (least, self.gate.attempted[name]) for name, least in self.known.attempted_of.items()},
        }
        return {name: (least, now) for name, (least, now) in required.items() if now < least}

    @functools.cached_property
    def _gaps(self) -> tuple[str, ...]:
        """The version gaps of the run."""
        return tuple(gap.name for gap in self.gate.support.found())

    def _refuse(self, reason: str) -> None:
        refused = []
        if self._new and not reason:
            first = self._new[0]
            refused.append(
                f"{len(self._new)} failures are new, the first is {line(first.case)}: {first.verdict}; fix them, "
                "or accept "
                "them with --accept-new --reason WHY"
            )
        new_gaps = [name for name in self._gaps if name not in self.known.gaps]
        if new_gaps and not reason:
            refused.append(
                f"{len(new_gaps)} version gaps are new, the first is {line(new_gaps[0])}; support them, or "
                "accept them with --accept-new --reason WHY"
            )
        if self._lowered and not self.fewer:
            (name, (least, now)), *others = self._lowered.items()
            more = f" (and {len(others)} more)" if others else ""
            refused.append(
                f"there are fewer cases than {self.known.path} requires: {line(name)}: {now} instead of {least}{more}; "
                "`gate` lists all; fix this, or accept it with --accept-fewer --reason WHY"
            )
        if refused:
            raise ExpectationsError("changes-refused", "; ".join(refused))

    def _parts(self, reason: str, *, exact: bool) -> Iterator[str]:
        """Yield the sections of the new text."""
        entries = {entry.line: entry for entry in self.known.entries}
        last = max((index for index, part in enumerate(self.sections) if part.line in entries), default=0)
        for index, part in enumerate(self.sections):
            if part.line in entries:
                block, *more = self._entry(entries[part.line], part.text, exact=exact)
            else:
                block, more = {"": self._head, "attempted": self._attempted}.get(part.name, str)(part.text), []
            if index == last:
                more += self._accepted(reason, exact=exact)
            yield _with_appended(block, more)
        if not any(part.name == "attempted" for part in self.sections):
            yield self._attempted(f"\n{_ABOVE_ATTEMPTED}\n[attempted]\n")

    def _accepted(self, reason: str, *, exact: bool) -> Iterator[str]:
        """Yield one entry for all new failures of an operator with the same verdict and cause."""
        causes: dict[tuple[object, ...], list[Result]] = {}
        for result in self._new:
            flaky = result.verdict is Verdict.FLAKY
            causes.setdefault((family(result.case), worst(result), flaky, *signature(result)), []).append(result)
        for results in sorted(causes.values(), key=lambda results: (family(results[0].case), worst(results[0]))):
            ((verdict, flaky),) = _by_verdict(results)
            entry = Entry(verdict, reason, 0, flaky=flaky)
            globs = self._globs(entry, results, exact=exact)
            yield _entry_text(replace(entry, case=globs), cause=_cause(results[0]))
            self.changes.append(
                f"accepted {len(results)} {_verdict_text(verdict, flaky=flaky)}, first {line(results[0].case)}"
            )

    def _entry(self, entry: Entry, block: str, *, exact: bool) -> list[str]:
        """Return the new text of an entry (empty: it is removed), and the texts of entries that are split off."""
        others = f" and {len(entry.case) - 1} more globs" if len(entry.case) > 1 else ""
        where = f"line {entry.line} ({line(entry.case[0])}{others} {entry.verdict})"
        own = self.by_entry.get(entry.line, EntryResults())
        if entry.line not in self.gate.unmatched:
            return [block]  # Its `when` excludes this run.
        if not own.met and not own.improved and (own.deviates or not self._overridden(entry)):
            self.changes.append(f"removed {where}: no case has this verdict any more")
            return [""]
        parts = [block]
        if not own.deviates:
            if unmatched := self.gate.unmatched[entry.line]:
                globs = tuple(glob for glob in entry.case if glob not in unmatched)
                parts = [toml_blocks.replaced(block, {"case"}, [f"case = {toml_blocks.listed(globs)}"])]
                self.changes.append(
                    f"narrowed {where}: removed globs without matches: {line(', '.join(sorted(unmatched)))}"
                )
            return parts
        if own.met:
            globs = self._globs(entry, own.met, exact=exact)
            parts = [toml_blocks.replaced(block, {"case"}, [f"case = {toml_blocks.listed(globs)}"])]
            self.changes.append(f"narrowed {where} to {len(own.met)} cases")
        else:
            parts = [""]
        for (verdict, flaky), results in _by_verdict(own.improved).items():
            globs = self._globs(entry, results, exact=exact)
            parts.append(_entry_text(replace(entry, case=globs, verdict=verdict, flaky=flaky)))
            self.changes.append(f"improved {len(results)} cases of {where} to {_verdict_text(verdict, flaky=flaky)}")
        return parts

    def _overridden(self, entry: Entry) -> bool:
        """Return whether it matches cases that more specific entries apply to."""
        return any(entry.matches(result) for result in self.results if result.verdict.scored)

    def _globs(self, entry: Entry, results: Sequence[Result], *, exact: bool) -> tuple[str, ...]:
        """Return globs that, with an entry's other selectors, match these results and no other scored case.

        Globs of the entry that match no other case are kept.
        """
        inside = {result.case for result in results}
        if exact:
            return tuple(sorted(map(literal, inside)))
        others = [
            result.case
            for name in sorted({family(case) for case in inside})
            for result in self.by_family.get(name, ())
            if result.case not in inside and entry.matches_except_case(result)
        ]
        kept = (
            [glob for glob in entry.case if fnmatch.filter(inside, glob) and not fnmatch.filter(others, glob)]
            if entry.line
            else []
        )
        rest = {case for case in inside if not any(fnmatch.fnmatchcase(case, glob) for glob in kept)}
        return (*kept, *fold(rest, others))

    def _head(self, text: str) -> str:
        """Return the keys of the file, with the current version gaps and number of cases."""
        text = self._with_gaps(text)
        if self.known.attempted or any(name == "attempted" for name, *_ in toml_blocks.keys(text)):
            self.changes.append("attempted: now counted by operator version")
            text = toml_blocks.replaced(text, {"attempted"})
        before, now = self.known.minimum, len(self.results)
        if now == before:
            return text
        self.changes.append(f"minimum: changed from {before} to {now}")
        place = next((begin for name, begin, _ in toml_blocks.keys(text) if name == "minimum"), None)
        if place is None:
            return _below_backend(text, f"minimum = {now}\n")
        lines = toml_blocks.lines_of(text)
        lines[place] = self._with_number(lines[place], before, now)
        return "".join(lines)

    def _with_gaps(self, text: str) -> str:
        if self._gaps == self.known.gaps:
            return text
        self.changes.append(f"gaps: {len(self._gaps)} version gaps are listed now, {len(self.known.gaps)} before")
        listed = f"gaps = {toml_blocks.array(self._gaps)}"
        if any(name == "gaps" for name, *_ in toml_blocks.keys(text)):
            return toml_blocks.replaced(text, {"gaps"}, [listed])
        return _below_backend(text, f"{_ABOVE_GAPS}\n{listed}\n")

    def _attempted(self, text: str) -> str:
        """Return the table of attempted cases, with the current numbers."""
        lines = toml_blocks.lines_of(text)
        places = {name: begin for name, begin, _ in toml_blocks.keys(text)}
        grown: list[str] = []
        lines[-1] = lines[-1].rstrip("\n") + "\n"
        for operator, before in self.known.attempted_of.items():
            now = self.gate.attempted[operator]
            if now != before and operator in places:
                lines[places[operator]] = self._with_number(lines[places[operator]], before, now)
            if now < before:
                self.changes.append(f"attempted: {line(operator)} changed from {before} to {now}")
            elif now > before:
                grown.append(operator)
        added = [name for name in sorted(self.gate.attempted, key=natural) if name not in places]
        for operator in reversed(added):
            least = natural(operator)
            place = max((at for name, at in places.items() if natural(name) < least), default=_header_line(lines))
            lines.insert(place + 1, f"{toml_blocks.quoted(operator)} = {self.gate.attempted[operator]}\n")
        if grown:
            self.changes.append(f"attempted: {len(grown)} operator versions have more cases than before")
        if added:
            self.changes.append(f"attempted: {len(added)} operator versions are new")
        return "".join(lines)

    def _with_number(self, text: str, before: int, now: int) -> str:
        """Return the line of a number with the current one, and the reason as a comment if it is lower."""
        match = re.fullmatch(r"(.*?=\s*)([^\s#]+)([^#\n]*)(#.*)?(\n?)", text)
        if match is None:
            return text
        key, _, blank, comment, end = match.groups(default="")
        new = "" if _SHRUNK.match(comment) else comment
        if now < before:
            new = f"# {before} until {self.today}: {line(self.fewer)}" + (f"; {new[1:].strip()}" if new else "")
        return f"{key}{now}{(blank or '  ') + new if new else ''}{end}"


def _below_backend(text: str, added: str) -> str:
    """Return the keys of the file with further lines below that of the backend."""
    lines = toml_blocks.lines_of(text)
    after = next(end for name, _, end in toml_blocks.keys(text) if name == "backend")
    lines[-1] = lines[-1].rstrip("\n") + "\n"
    return "".join([*lines[:after], added, *lines[after:]])


def _header_line(lines: Sequence[str]) -> int:
    """Return the index of the table's header; -1 if it does not exist."""
    return next((index for index, text in enumerate(lines) if text.lstrip().startswith("[")), -1)


def _with_appended(block: str, more: Sequence[str]) -> str:
    """Return a block with others appended before its trailing blank lines."""
    if not more:
        return block
    body = block.rstrip("\n")
    return f"{body}\n{''.join(more)}{block[len(body) + 1 :]}" if body else "".join(more)


def _by_verdict(results: Iterable[Result]) -> dict[tuple[Verdict, bool], list[Result]]:
    """Return results by the `verdict` and `flaky` of an entry for them."""
    grouped: dict[tuple[Verdict, bool], list[Result]] = {}
    for result in results:
        grouped.setdefault((worst(result), result.verdict is Verdict.FLAKY), []).append(result)
    return grouped


def _verdict_text(verdict: Verdict, *, flaky: bool) -> str:
    return f"flaky, at worst {verdict}" if flaky else str(verdict)


def _cause(result: Result) -> str:
    """Return the cause of failures on one line: the sentence, or the runtime's message."""
    by_text = result.clauses and (result.verdict in WRONG or result.verdict is Verdict.ACCEPTED_INVALID)
    text = quoted(result.clauses[-1]) if by_text else f"{result.error}: {result.message}".strip(": ")
    printable = "".join(character if character.isprintable() else "?" for character in line(text, 2000))
    return textwrap.shorten(printable, 110, placeholder=" ...")


def _entry_text(entry: Entry, *, cause: str = "") -> str:
    """Return an entry as TOML, with its cause as a comment above it."""
    lines = ["", *([f"# {cause}"] if cause else []), "[[expect]]", f"case = {toml_blocks.listed(entry.case)}"]
    texts = {
        "versions": str(entry.versions or ""),
        **{key: getattr(entry, key) for key in SELECTORS[2:]},
        "verdict": str(entry.verdict),
        "reason": entry.reason,
        "link": entry.link,
        "finding": entry.finding,
    }
    lines += [f"{key} = {toml_blocks.quoted(text)}" for key, text in texts.items() if text]
    lines += [f"expires = {entry.expires}"] if entry.expires else []
    conditions = ", ".join(f"{key} = {toml_blocks.quoted(text)}" for key, text in entry.when.items())
    lines += [f"when = {{ {conditions} }}"] if conditions else []
    lines += ["flaky = true"] if entry.flaky else []
    return "\n".join([*lines, ""])
