"""Rewrites an expectations file so that a run passes its gate: keeps what still holds, and says what it did.

The file is changed section by section, as text: reasons, links, comments and order stay.
"""

from __future__ import annotations

import fnmatch
import re
import textwrap
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from harness import atomic_file
from harness.case.case import quoted
from harness.gate import expectations, toml_blocks
from harness.gate.expectations import SELECTORS, Entry, Expectations, ExpectationsError
from harness.gate.gate import Gate, Standing, standing_of, worst
from harness.gate.glob_cover import family, fold
from harness.globs import literal
from harness.results import sampling
from harness.results.summary import signature
from harness.verdict import WRONG, Result, Verdict, line, natural

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from harness.results.stream import Run

_ABOVE_ATTEMPTED = (
    "# Cases that the runtime does not opt out of. Fewer close the gate; `expectations update` counts them."
)
_SHRUNK = re.compile(r"#\s*\d+ until \d{4}-\d\d-\d\d: ")
"""A comment on a number that was lowered."""


@dataclass
class Seen:
    """What a run shows of the cases that one entry decides on, or none does.

    Attributes:
        holds: those that are what the entry says.
        better: those that fail in a better way.
        new: those that fail in another or a worse way.
        gone: that there are others than `holds`.
    """

    holds: list[Result] = field(default_factory=list)
    better: list[Result] = field(default_factory=list)
    new: list[Result] = field(default_factory=list)
    gone: bool = False


def renew(
    path: Path, run: Run, backend: str, today: dt.date, *, new: str = "", fewer: str = ""
) -> tuple[str, list[str]]:
    """Return the new text of a file, and lines on what was done.

    Args:
        path: of the file; it may be missing.
        run: a finished one.
        backend: that a new file is to speak of.
        today: entries that expire before have expired.
        new: the reason of failures that no entry accepts; empty: they are refused.
        fewer: the reason why fewer cases are attempted, or are there at all; empty: that is refused.

    Raises:
        ExpectationsError: there are such failures or fewer cases and no reason, or the run was cut off.
    """
    if not run.complete:
        raise ExpectationsError(run.cut_off)
    text = expectations.text_of(path) if path.exists() else _beginning(run, backend)
    known = expectations.parse(text, path)
    return _Renewal(known, text, run, today, fewer).write(new)


def write(path: Path, text: str) -> None:
    """Put a text in place of a file, whole or not at all.

    Raises:
        ExpectationsError: it cannot be written.
    """
    try:
        atomic_file.write(path, [text])
    except OSError as error:
        raise ExpectationsError(f"cannot write {path}: {error.strerror}") from error


def _beginning(run: Run, backend: str) -> str:
    keys = {"backend": backend, "suite": str(run.header["suite"]["name"])}
    if selection := sampling.selected(run.header, backend):
        keys["selection"] = selection
    return "\n".join([*(f"{key} = {toml_blocks.quoted(text)}" for key, text in keys.items()), "minimum = 0", ""])


class _Renewal:
    def __init__(self, known: Expectations, text: str, run: Run, today: dt.date, fewer: str) -> None:
        self.known, self.run, self.today, self.fewer = known, run, today, fewer
        self.sections = toml_blocks.sections(text)
        own = (result for result in run.results() if result.backend == known.backend)
        self.results = sorted(own, key=lambda result: result.case)  # Of several processes, who was first is chance.
        self.gate = Gate(known, run.header, today)
        self.said: list[str] = []
        self.seen: dict[int, Seen] = {}
        self.near: dict[str, list[Result]] = {}
        for result in self.results:
            self.gate.add(result)
            self._look(result)
            if result.verdict.scored:
                self.near.setdefault(family(result.case), []).append(result)

    def _look(self, result: Result) -> None:
        entry = self.gate.entry(result)
        seen = self.seen.setdefault(entry.line if entry else 0, Seen())
        if not result.verdict.scored and (entry is None or result.verdict is not entry.verdict):
            return
        standing = standing_of(entry, result)
        late = entry is not None and entry.expired(self.today)
        if standing is Standing.MET and not late:
            seen.holds.append(result)
            return
        seen.gone = True
        if standing is Standing.IMPROVED and not late:
            seen.better.append(result)
        elif result.verdict is not Verdict.PASS:
            seen.new.append(result)

    def write(self, reason: str) -> tuple[str, list[str]]:
        """Return the text and what was done; exact ids where globs of several entries would get in each other's way."""
        self._refuse(reason)
        for exact in (False, True):
            self.said = []
            text = "".join(self._parts(reason, exact=exact))
            closed = Gate(expectations.parse(text, self.known.path), self.run.header, self.today)
            try:
                for result in self.results:
                    closed.add(result)
                if closed.finish(complete=True):
                    return text, self.said
            except ExpectationsError:
                if exact:
                    raise
        raise ExpectationsError(
            f"{self.known.path}: the gate would still be closed: {'; '.join(closed.problems) or 'see `gate`'}"
        )

    @property
    def _new(self) -> list[Result]:
        """The failures that no entry accepts, in the order of their ids."""
        return sorted((result for seen in self.seen.values() for result in seen.new), key=lambda result: result.case)

    @property
    def _lowered(self) -> dict[str, tuple[int, int]]:
        """What the file asks for and what there is, of all that there is less of."""
        asked = {
            "the number of cases": (self.known.minimum, len(self.results)),
            "the number of attempted cases": (self.known.attempted, self.gate.attempted.total()),
            **{name: (least, self.gate.attempted[name]) for name, least in self.known.attempted_of.items()},
        }
        return {name: (least, now) for name, (least, now) in asked.items() if now < least}

    def _refuse(self, reason: str) -> None:
        refused = []
        if self._new and not reason:
            first = self._new[0]
            refused.append(
                f"{len(self._new)} failures are new, first {line(first.case)}: {first.verdict}; mend them, or accept "
                "them with --accept-new --reason WHY"
            )
        if self._lowered and not self.fewer:
            (name, (least, now)), *others = self._lowered.items()
            more = f" (and {len(others)} more)" if others else ""
            refused.append(
                f"fewer cases are attempted than {self.known.path} asks for: {line(name)}: {now}, where it has {least}"
                f"{more}; `gate` names them; mend it, or accept it with --accept-fewer --reason WHY"
            )
        if refused:
            raise ExpectationsError("; ".join(refused))

    def _parts(self, reason: str, *, exact: bool) -> Iterator[str]:
        """Yield the sections of the new text."""
        entries = {entry.line: entry for entry in self.known.entries}
        last = max((index for index, part in enumerate(self.sections) if part.line in entries), default=0)
        for index, part in enumerate(self.sections):
            if part.line in entries:
                kept, *more = self._entry(entries[part.line], part.text, exact=exact)
            else:
                kept, more = {"": self._head, "attempted": self._attempted}.get(part.name, str)(part.text), []
            if index == last:
                more += self._accepted(reason, exact=exact)
            yield _followed(kept, more)
        if not any(part.name == "attempted" for part in self.sections):
            yield self._attempted(f"\n{_ABOVE_ATTEMPTED}\n[attempted]\n")

    def _accepted(self, reason: str, *, exact: bool) -> Iterator[str]:
        """Yield an entry for all new failures of one operator that come out alike for the same cause."""
        causes: dict[tuple[object, ...], list[Result]] = {}
        for result in self._new:
            flaky = result.verdict is Verdict.FLAKY
            causes.setdefault((family(result.case), worst(result), flaky, *signature(result)), []).append(result)
        for results in sorted(causes.values(), key=lambda results: (family(results[0].case), worst(results[0]))):
            ((verdict, flaky),) = _by_verdict(results)
            entry = Entry(verdict, reason, 0, flaky=flaky)
            globs = self._globs(entry, results, exact=exact)
            yield _written(replace(entry, case=globs), cause=_cause(results[0]))
            self.said.append(f"accepted {len(results)} {_worded(verdict, flaky=flaky)}, first {line(results[0].case)}")

    def _entry(self, entry: Entry, block: str, *, exact: bool) -> list[str]:
        """Return what becomes of an entry, which may be nothing, and the entries that come out of it."""
        others = f" and {len(entry.case) - 1} more globs" if len(entry.case) > 1 else ""
        where = f"line {entry.line} ({line(entry.case[0])}{others} {entry.verdict})"
        seen = self.seen.get(entry.line, Seen())
        if entry.line not in self.gate.idle:
            return [block]  # For other circumstances than this run's.
        if not seen.holds and not seen.better and (seen.gone or not self._overridden(entry)):
            self.said.append(f"removed {where}: no case is so any more")
            return [""]
        parts = [block]
        if not seen.gone:
            if idle := self.gate.idle[entry.line]:
                globs = tuple(glob for glob in entry.case if glob not in idle)
                parts = [toml_blocks.replaced(block, {"case"}, [f"case = {toml_blocks.listed(globs)}"])]
                self.said.append(f"narrowed {where}: nothing is matched by {line(', '.join(sorted(idle)))}")
            return parts
        if seen.holds:
            globs = self._globs(entry, seen.holds, exact=exact)
            parts = [toml_blocks.replaced(block, {"case"}, [f"case = {toml_blocks.listed(globs)}"])]
            self.said.append(f"narrowed {where} to {len(seen.holds)} cases")
        else:
            parts = [""]
        for (verdict, flaky), results in _by_verdict(seen.better).items():
            globs = self._globs(entry, results, exact=exact)
            parts.append(_written(replace(entry, case=globs, verdict=verdict, flaky=flaky)))
            self.said.append(f"improved {len(results)} cases of {where} to {_worded(verdict, flaky=flaky)}")
        return parts

    def _overridden(self, entry: Entry) -> bool:
        """Tell whether it matches cases that narrower entries decide on."""
        return any(entry.matches(result) for result in self.results if result.verdict.scored)

    def _globs(self, entry: Entry, results: Sequence[Result], *, exact: bool) -> tuple[str, ...]:
        """Return globs that together with an entry's other selectors match these results and no other scored case.

        Those that the entry has and that do so stay.
        """
        inside = {result.case for result in results}
        if exact:
            return tuple(sorted(map(literal, inside)))
        others = [
            result.case
            for name in sorted({family(case) for case in inside})
            for result in self.near.get(name, ())
            if result.case not in inside and entry.matches_beside_case(result)
        ]
        kept = (
            [glob for glob in entry.case if fnmatch.filter(inside, glob) and not fnmatch.filter(others, glob)]
            if entry.line
            else []
        )
        rest = {case for case in inside if not any(fnmatch.fnmatchcase(case, glob) for glob in kept)}
        return (*kept, *fold(rest, others))

    def _head(self, text: str) -> str:
        """Return the file's own keys, with the number of cases that there are now."""
        if self.known.attempted or any(name == "attempted" for name, *_ in toml_blocks.keys(text)):
            self.said.append("attempted: told by operator version now")
            text = toml_blocks.replaced(text, {"attempted"})
        before, now = self.known.minimum, len(self.results)
        if now == before:
            return text
        self.said.append(f"minimum: {before} is now {now}")
        lines = toml_blocks.lines_of(text)
        place = next((begin for name, begin, _ in toml_blocks.keys(text) if name == "minimum"), None)
        if place is None:
            after = next(end for name, _, end in toml_blocks.keys(text) if name == "backend")
            lines[-1] = lines[-1].rstrip("\n") + "\n"
            lines.insert(after, f"minimum = {now}\n")
        else:
            lines[place] = self._counted(lines[place], before, now)
        return "".join(lines)

    def _attempted(self, text: str) -> str:
        """Return the table of attempted cases, with the numbers that there are now."""
        lines = toml_blocks.lines_of(text)
        there = {name: begin for name, begin, _ in toml_blocks.keys(text)}
        grown: list[str] = []
        lines[-1] = lines[-1].rstrip("\n") + "\n"
        for operator, before in self.known.attempted_of.items():
            now = self.gate.attempted[operator]
            if now != before and operator in there:
                lines[there[operator]] = self._counted(lines[there[operator]], before, now)
            if now < before:
                self.said.append(f"attempted: of {line(operator)} {before} is now {now}")
            elif now > before:
                grown.append(operator)
        added = [name for name in sorted(self.gate.attempted, key=natural) if name not in there]
        for operator in reversed(added):
            least = natural(operator)
            place = max((at for name, at in there.items() if natural(name) < least), default=_last_line_of_head(lines))
            lines.insert(place + 1, f"{toml_blocks.quoted(operator)} = {self.gate.attempted[operator]}\n")
        if grown:
            self.said.append(f"attempted: {len(grown)} operator versions have more cases than before")
        if added:
            self.said.append(f"attempted: {len(added)} operator versions are new")
        return "".join(lines)

    def _counted(self, text: str, before: int, now: int) -> str:
        """Return the line of a number with another one, and why where it is lower."""
        match = re.fullmatch(r"(.*?=\s*)([^\s#]+)([^#\n]*)(#.*)?(\n?)", text)
        if match is None:
            return text
        key, _, blank, comment, end = match.groups(default="")
        own = _SHRUNK.match(comment)
        kept = "" if own else comment
        if now < before:
            kept = f"# {before} until {self.today}: {line(self.fewer)}" + (f"; {kept[1:].strip()}" if kept else "")
        return f"{key}{now}{(blank or '  ') + kept if kept else ''}{end}"


def _last_line_of_head(lines: Sequence[str]) -> int:
    return next((index for index, text in enumerate(lines) if text.lstrip().startswith("[")), -1)


def _followed(block: str, more: Sequence[str]) -> str:
    """Return a block with others behind it, and behind them the blank lines that it ended with."""
    if not more:
        return block
    body = block.rstrip("\n")
    return f"{body}\n{''.join(more)}{block[len(body) + 1 :]}" if body else "".join(more)


def _by_verdict(results: Iterable[Result]) -> dict[tuple[Verdict, bool], list[Result]]:
    """Return results by what an entry for them says: the verdict, and whether they are flaky."""
    found: dict[tuple[Verdict, bool], list[Result]] = {}
    for result in results:
        found.setdefault((worst(result), result.verdict is Verdict.FLAKY), []).append(result)
    return found


def _worded(verdict: Verdict, *, flaky: bool) -> str:
    return f"flaky, at worst {verdict}" if flaky else str(verdict)


def _cause(result: Result) -> str:
    """Return in a line what failures of one cause have in common: the sentence, or what the runtime said."""
    by_text = result.clauses and (result.verdict in WRONG or result.verdict is Verdict.ACCEPTED_INVALID)
    text = quoted(result.clauses[-1]) if by_text else f"{result.error}: {result.message}".strip(": ")
    seen = "".join(character if character.isprintable() else "?" for character in line(text, 2000))
    return textwrap.shorten(seen, 110, placeholder=" ...")


def _written(entry: Entry, *, cause: str = "") -> str:
    """Return a block for an entry, with a comment on the cause above it."""
    lines = ["", *([f"# {cause}"] if cause else []), "[[expect]]", f"case = {toml_blocks.listed(entry.case)}"]
    texts = {
        "versions": str(entry.versions or ""),
        **{key: getattr(entry, key) for key in SELECTORS[2:]},
        "verdict": str(entry.verdict),
        "reason": entry.reason,
        "link": entry.link,
    }
    lines += [f"{key} = {toml_blocks.quoted(text)}" for key, text in texts.items() if text]
    lines += [f"expires = {entry.expires}"] if entry.expires else []
    given = ", ".join(f"{key} = {toml_blocks.quoted(text)}" for key, text in entry.when.items())
    lines += [f"when = {{ {given} }}"] if given else []
    lines += ["flaky = true"] if entry.flaky else []
    return "\n".join([*lines, ""])
