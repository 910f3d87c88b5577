"""Rewrites an expectations file so that a run passes its gate: keeps what still holds, and says what it did.

The file is changed block by block, as text: reasons, links, comments and order stay. A block is an [[expect]] and the
comment right above it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from harness import expectations, samples, whole
from harness.expectations import SELECTORS, Entry, Expectations, ExpectationsError
from harness.folding import fold
from harness.gate import Gate, Standing, standing_of, worst
from harness.globs import literal
from harness.verdict import Result, Verdict

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from harness.results import Run


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


def renew(path: Path, run: Run, backend: str, reason: str, today: dt.date) -> tuple[str, list[str]]:
    """Return the new text of a file, and lines on what was done.

    Args:
        path: of the file; it may be missing.
        run: a finished one.
        backend: that a new file is to speak of.
        reason: of failures that no entry accepts; empty: they are refused.
        today: entries that expire before have expired.

    Raises:
        ExpectationsError: there are such failures and no reason, or the run was cut off.
    """
    if not run.complete:
        raise ExpectationsError(run.cut_off)
    text = path.read_text(encoding="utf-8") if path.exists() else _beginning(run, backend)
    results = list(run.results())
    return _Renewal(expectations.parse(text, path), text, run, results, today).write(reason)


def write(path: Path, text: str) -> None:
    """Put a text in place of a file, whole or not at all.

    Raises:
        ExpectationsError: it cannot be written.
    """
    try:
        whole.write(path, [text])
    except OSError as error:
        raise ExpectationsError(f"cannot write {path}: {error.strerror}") from error


def _beginning(run: Run, backend: str) -> str:
    selection = samples.selected(run.header, backend)
    lines = [f"backend = {json.dumps(backend)}", f"suite = {json.dumps(run.header['suite']['name'])}"]
    return "\n".join([*lines, *([f"selection = {json.dumps(selection)}"] if selection else []), "minimum = 0", ""])


class _Renewal:
    def __init__(self, known: Expectations, text: str, run: Run, results: Iterable[Result], today: dt.date) -> None:
        self.known, self.run, self.today = known, run, today
        self.head, self.blocks = _blocks(text)
        own = (result for result in results if result.backend == known.backend)
        self.results = sorted(own, key=lambda result: result.case)  # Of several processes, who was first is chance.
        self.gate = Gate(known, run.header, today)
        self.said: list[str] = []
        self.seen: dict[int, Seen] = {}
        for result in self.results:
            self._look(result)

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

    def _refuse(self, reason: str) -> None:
        if self._new and not reason:
            first = self._new[0]
            raise ExpectationsError(
                f"{len(self._new)} failures are new, first {first.case}: {first.verdict}; mend them, or accept them "
                "with --accept-new --reason WHY"
            )

    def _parts(self, reason: str, *, exact: bool) -> Iterator[str]:
        yield self._head()
        for entry, block in zip(self.known.entries, self.blocks, strict=True):
            yield from self._entry(entry, block, exact=exact)
        of_operator: dict[str, list[Result]] = {}
        for result in self._new:
            of_operator.setdefault(result.operator.rpartition("/")[0], []).append(result)
        for (verdict, flaky), results in (item for new in of_operator.values() for item in _by_verdict(new).items()):
            for glob in self._globs(results, exact=exact):
                yield _written(Entry(verdict, reason, 0, glob, flaky=flaky))
            self.said.append(f"accepted {len(results)} {_worded(verdict, flaky=flaky)}, first {results[0].case}")

    def _entry(self, entry: Entry, block: str, *, exact: bool) -> Iterator[str]:
        where = f"line {entry.line} ({entry.case} {entry.verdict})"
        seen = self.seen.get(entry.line, Seen())
        if entry not in self.gate.entries:
            yield block  # For other circumstances than this run's.
            return
        if not seen.holds and not seen.better and (seen.gone or not self._overridden(entry)):
            self.said.append(f"removed {where}: no case is so any more")
            return
        if not seen.gone:
            yield block
            return
        if seen.holds:
            first, *others = globs = self._globs(seen.holds, exact=exact)
            yield _narrowed(block, first)
            yield from (_written(replace(entry, case=glob), only_case=True) for glob in others)
            self.said.append(f"narrowed {where} to {len(seen.holds)} cases in {len(globs)} entries")
        for (verdict, flaky), results in _by_verdict(seen.better).items():
            for glob in self._globs(results, exact=exact):
                yield _written(replace(entry, case=glob, verdict=verdict, flaky=flaky), only_case=True)
            self.said.append(f"improved {len(results)} cases of {where} to {_worded(verdict, flaky=flaky)}")

    def _overridden(self, entry: Entry) -> bool:
        """Tell whether it matches cases that narrower entries decide on."""
        return any(entry.matches(result) for result in self.results if result.verdict.scored)

    def _globs(self, results: list[Result], *, exact: bool) -> list[str]:
        inside = {result.case for result in results}
        if exact:
            return sorted(map(literal, inside))
        return fold(inside, (r.case for r in self.results if r.case not in inside and r.verdict.scored))

    def _head(self) -> str:
        """Return the file's own keys, with the number of cases that there are now."""
        count = len(self.results)
        if count == self.known.minimum:
            return self.head
        self.said.append(f"minimum: {self.known.minimum} is now {count}")
        line = f"minimum = {count}"
        if re.search(r"^\s*minimum\s*=", self.head, re.MULTILINE):
            return re.sub(r"^\s*minimum\s*=\s*[\d_]+", line, self.head, count=1, flags=re.MULTILINE)
        return re.sub(r"^(\s*backend\s*=.*\n)", rf"\g<1>{line}\n", self.head, count=1, flags=re.MULTILINE)


def _by_verdict(results: Iterable[Result]) -> dict[tuple[Verdict, bool], list[Result]]:
    """Return results by what an entry for them says: the verdict, and whether they are flaky."""
    found: dict[tuple[Verdict, bool], list[Result]] = {}
    for result in results:
        found.setdefault((worst(result), result.verdict is Verdict.FLAKY), []).append(result)
    return found


def _worded(verdict: Verdict, *, flaky: bool) -> str:
    return f"flaky, at worst {verdict}" if flaky else str(verdict)


def _blocks(text: str) -> tuple[str, list[str]]:
    """Return what stands before the entries, and the text of each with the comment right above it."""
    lines = text.splitlines(keepends=True)
    starts = []
    for index, line in enumerate(lines):
        if re.match(r"\s*\[\[\s*expect\s*\]\]", line):
            first = index
            while first and lines[first - 1].lstrip().startswith("#"):
                first -= 1
            starts.append(first)
    ends = [*starts[1:], len(lines)] if starts else []
    head = "".join(lines[: starts[0]] if starts else lines)
    return head, ["".join(lines[begin:end]) for begin, end in zip(starts, ends, strict=True)]


def _narrowed(block: str, glob: str) -> str:
    """Return a block that selects by one glob over ids, and is the same otherwise."""
    key = re.compile(rf'\s*"?({"|".join(SELECTORS)})"?\s*=')
    kept, done = [], False
    for line in block.splitlines(keepends=True):
        if not key.match(line):
            kept.append(line)
            if re.match(r"\s*\[\[", line):
                kept.append(f"case = {json.dumps(glob)}\n")
                done = True
    return "".join(kept) if done else block


def _written(entry: Entry, *, only_case: bool = False) -> str:
    """Return a block for an entry; without its other selectors where ids say it all."""
    lines = ["", "[[expect]]", f"case = {json.dumps(entry.case)}"]
    others = {"versions": str(entry.versions or ""), **{key: getattr(entry, key) for key in SELECTORS[2:]}}
    lines += [f"{key} = {json.dumps(value)}" for key, value in others.items() if value and not only_case]
    lines += [f"verdict = {json.dumps(str(entry.verdict))}", f"reason = {json.dumps(entry.reason, ensure_ascii=False)}"]
    lines += [f"link = {json.dumps(entry.link)}"] if entry.link else []
    lines += [f"expires = {entry.expires}"] if entry.expires else []
    given = ", ".join(f"{key} = {json.dumps(value)}" for key, value in entry.when.items())
    lines += [f"when = {{ {given} }}"] if given else []
    lines += ["flaky = true"] if entry.flaky else []
    return "\n".join([*lines, ""])
