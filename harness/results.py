"""The result stream: NDJSON of a header, one result a line, and a footer with the counts.

No footer means cut off: everything before it still counts, and `run --resume` goes on from there.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import math
import os
import platform
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from harness import __version__
from harness.errors import HarnessError
from harness.verdict import Result, Unreadable, Verdict, clean, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from io import FileIO
    from pathlib import Path

FORMAT = 1
"""Raised when a record changes its meaning."""

IDENTITY = ("runtime", "version", "python", "node")
"""What an adapter says of itself that tells one runtime from another."""
CALLS = ("repro", "repro_wide")
"""How its runtime is called without this project; see `repro`."""
MOST_CODE = 8000

SPARSE = (
    "message",
    "error",
    "signal",
    "seconds",
    "expected",
    "actual",
    "mismatch",
    "clauses",
    "tags",
    "stderr",
    "attempts",
    "ulps",
)
"""Fields that are left out where they say nothing."""


class ResultsError(HarnessError):
    """A results file cannot be used; the text names file and line."""


def header(
    suite: Mapping[str, str], backends: Mapping[str, Mapping[str, Any]], arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the first record of a run."""
    return {
        "kind": "header",
        "format": FORMAT,
        "harness": __version__,
        "onnx": onnx.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()},
        "started": _now(),
        "suite": dict(suite),
        "backends": {
            name: {key: clean(said[key], 80) for key in IDENTITY if key in said} | _calls(said)
            for name, said in backends.items()
        },
        "arguments": dict(arguments),
    }


def _calls(said: Mapping[str, Any]) -> dict[str, str]:
    """Return the code that an adapter gave; code that would have to be cut is left out."""
    return {key: said[key] for key in CALLS if isinstance(said.get(key), str) and len(said[key]) <= MOST_CODE}


def identity(said: Mapping[str, Any]) -> dict[str, str]:
    """Return of a backend in the header what tells it from another one."""
    return {key: str(said[key]) for key in IDENTITY if key in said}


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def to_record(result: Result) -> dict[str, Any]:
    """Return a result as a record of the stream."""
    record = {"kind": "result", **{f.name: getattr(result, f.name) for f in dataclasses.fields(result)}}
    return {key: value for key, value in record.items() if key not in SPARSE or value not in ("", None, (), {})}


def unreadable_record(item: Unreadable) -> dict[str, str]:
    """Return a case that could not be read as a record of the stream."""
    return {"kind": "unreadable", "case": item.case, "message": item.message}


def to_unreadable(record: Mapping[str, Any]) -> Unreadable:
    """Return the case that could not be read of a record.

    Raises:
        ValueError: a field is missing or none of its kind.
    """
    for key in ("case", "message"):
        if not isinstance(record.get(key), str):
            raise ValueError(f"{key!r} is {line(record.get(key), 80)}, expected a string")  # noqa: TRY004 - bad data
    return Unreadable(line(record["case"], 1000), line(record["message"], 1000))


_FIELDS = {item.name for item in dataclasses.fields(Result)}


def from_record(record: Mapping[str, Any]) -> Result:
    """Return the result of a record.

    Raises:
        ValueError, TypeError: a field is missing or none of its kind.
    """
    known = {key: value for key, value in record.items() if key in _FIELDS}
    for key in ("case", "backend", "verdict"):
        if not isinstance(known.get(key), str):
            raise ValueError(f"{key!r} is {known.get(key)!r}, expected a string")  # noqa: TRY004 - bad data, as below
    known["verdict"] = Verdict(known["verdict"])
    for key in ("clauses", "tags", "attempts"):
        known[key] = tuple(known.get(key, ()))
    for attempt in known["attempts"]:
        Verdict(attempt["verdict"])
    known.setdefault("operator", "")
    known.setdefault("outcome", "values")
    return Result(**known)


def begun(path: Path) -> bool:
    """Tell whether a file holds something.

    Raises:
        ResultsError: that cannot be told.
    """
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False
    except OSError as error:
        raise ResultsError(f"cannot read {path}: {error.strerror}") from error


class Writer:
    """Writes a stream, each record at once, so that what is measured is kept whatever happens next."""

    def __init__(self, path: Path | None) -> None:
        """Take a path, or None to only count: verdicts, and the seconds that the cases of a backend took."""
        self.path = path
        self._file: FileIO | None = None
        self.counts: dict[str, Counter[str]] = {}
        self.faults: list[str] = []
        self._unreadable: set[Unreadable] = set()
        self.busy: dict[str, float] = {}

    def check(self) -> None:
        """Raise ResultsError where a new file would take the place of a run that was cut off."""
        if self.path is not None and begun(self.path) and not Run(self.path).complete:
            raise ResultsError(f"{self.path} holds a run that was cut off; go on with --resume, or remove it")

    def open(self, first: Mapping[str, Any]) -> None:
        """Begin a new file with its header.

        Raises:
            ResultsError: the path cannot be written, or holds a run that was cut off.
        """
        if self.path is None:
            return
        self.check()
        try:
            self._file = self.path.open("wb", buffering=0)
        except OSError as error:
            raise ResultsError(f"cannot write {self.path}: {error.strerror}") from error
        self._line(first)

    def go_on(self, run: Run) -> None:
        """Go on with a file that was cut off, behind its last whole record."""
        assert self.path is not None  # noqa: S101 - there is a run, so there is a path
        try:
            self._file = self.path.open("r+b", buffering=0)
        except OSError as error:
            raise ResultsError(f"cannot write {self.path}: {error.strerror}") from error
        self._unreadable = set(run.unreadable)
        self._file.truncate(run.end)
        self._file.seek(run.end)

    def add(self, result: Result) -> None:
        """Write and count a result."""
        self.count(result)
        if self._file is not None:
            self._line(to_record(result))

    def add_unreadable(self, item: Unreadable) -> None:
        """Write a case that could not be read, once."""
        if self._file is not None and item not in self._unreadable:
            self._unreadable.add(item)
            self._line(unreadable_record(item))

    def count(self, result: Result) -> None:
        """Count a result that is in the file already."""
        self.counts.setdefault(result.backend, Counter())[str(result.verdict)] += 1
        if isinstance(result.seconds, float | int) and math.isfinite(result.seconds):  # A file may say anything.
            self.busy[result.backend] = self.busy.get(result.backend, 0.0) + result.seconds

    def finish(self, seconds: float, cpu: Mapping[str, float] | None = None) -> None:
        """Write the footer: the run is whole.

        Args:
            seconds: that it took.
            cpu: seconds of CPU time; see costs.Cost.
        """
        if self._file is not None:
            counts = {backend: dict(sorted(counter.items())) for backend, counter in self.counts.items()}
            self._line(
                {
                    "kind": "footer",
                    "counts": counts,
                    "faults": self.faults,
                    "finished": _now(),
                    "seconds": round(seconds, 3),
                    "busy": {backend: round(spent, 3) for backend, spent in sorted(self.busy.items())},
                    **({"cpu": dict(cpu)} if cpu else {}),
                }
            )

    def close(self) -> None:
        """Close the file; without `finish` before, it counts as cut off."""
        if self._file is not None:
            self._file.close()

    def _line(self, record: Mapping[str, Any]) -> None:
        assert self._file is not None  # noqa: S101
        view = memoryview(
            json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        )
        try:
            while view:
                view = view[self._file.write(view) :]
        except OSError as error:
            raise ResultsError(f"cannot write {self.path}: {error.strerror}; what it holds so far is whole") from error


class Run:
    """A results file, read lazily.

    Attributes:
        header: the first record.
        complete: whether there is a footer.
        unreadable: cases of the suite that no backend could be asked.
        end: bytes up to the last whole record.
    """

    def __init__(self, path: Path) -> None:
        """Read the header, and find out whether the file is whole.

        Raises:
            ResultsError: it is missing, or no results file.
        """
        self.path = path
        try:
            with path.open("rb") as file:
                first = file.readline()
        except OSError as error:
            raise ResultsError(f"cannot read {path}: {error.strerror}") from error
        try:
            self.header = self._record(1, first)
        except ResultsError:
            self.header = {}
        if self.header.get("kind") != "header":
            raise ResultsError(
                f"{path}, line 1: expected the header of a run, as `run --results` writes it; name another file"
            )
        if self.header.get("format") != FORMAT:
            raise ResultsError(f"{path}: format {self.header.get('format')!r}; this version reads {FORMAT}")
        for key in ("suite", "backends", "arguments"):
            if not isinstance(self.header.get(key), dict):
                raise ResultsError(f"{path}, line 1: the header has no {key!r}; the file is damaged, run anew")
        self.footer: Mapping[str, Any] | None = None
        self.unreadable: tuple[Unreadable, ...] = ()
        self.end = len(first)
        for _ in self.results():
            pass

    @property
    def complete(self) -> bool:
        """Whether the run came to its end."""
        return self.footer is not None

    @property
    def cut_off(self) -> str:
        """What is said where only a whole run will do."""
        return f"{self.path} was cut off; go on with it first: run --resume --results {self.path}"

    def results(self) -> Iterator[Result]:
        """Yield the results in the order of the file.

        Raises:
            ResultsError: a record before the last is damaged.
        """
        with self.path.open("rb") as file:
            end = len(file.readline())
            number, damaged = 1, None
            unreadable: dict[Unreadable, None] = {}
            for line in file:
                number += 1
                if damaged:
                    raise ResultsError(f"{damaged}; remove it and what follows, and go on with --resume")
                try:
                    record = self._record(number, line)
                    result = from_record(record) if record["kind"] == "result" else None
                    if record["kind"] == "unreadable":
                        unreadable[to_unreadable(record)] = None
                except ResultsError as error:
                    damaged = str(error)  # Allowed for the last line only: there the run was cut off.
                    continue
                except (KeyError, ValueError, TypeError) as error:
                    raise ResultsError(
                        f"{self.path}, line {number}: not a result: {error}; remove the line and run with --resume"
                    ) from error
                if record["kind"] == "footer":
                    self.footer = record
                end += len(line)
                if result is not None:
                    yield result
            self.end, self.unreadable = end, tuple(unreadable)

    def _record(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            record = json.loads(line) if line.endswith(b"\n") else None
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict) or "kind" not in record:
            raise ResultsError(f"{self.path}, line {number}: not a record of the result stream")
        return record
