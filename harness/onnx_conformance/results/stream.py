# SPDX-License-Identifier: Apache-2.0
"""The result stream: NDJSON with a header, one result on each line, and a footer with the counts.

A stream without a footer was cut off: its results are valid, and `run --resume` continues it.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import errno
import fcntl
import functools
import json
import math
import os
import platform
import tempfile
import weakref
from collections import Counter
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import VERSION
from onnx_conformance.base.suite_names import MAIN
from onnx_conformance.base.verdict import Result, Unreadable, Verdict, clean, line
from onnx_conformance.results import ep_report, errata, records
from onnx_conformance.specification.completeness import COMPLETENESS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from io import BufferedReader

FORMAT = 1
"""Increased when the meaning of a record changes."""

IDENTITY = ("runtime", "version", "python", "node", "subject", "profile")
"""Members of a backend that identify its runtime, and the profile that its verdicts depend on."""
OF_PROVIDER = ("name", "onnxruntime", "registration", "device", "packages")
"""Members of the description of an execution provider."""
OF_PROFILE = ("exclusions", "overrides", "bounds")
"""Members of a backend with the tables of its profile."""
CALLS = ("repro", "repro_wide", "repro_earlier", "repro_files")
"""Members with the code that calls its runtime without this project; see `repro`."""
MOST_CODE = 8000
MOST_PROMISE = 400
"""Maximum number of characters of a sentence from the documentation of a tool."""
MOST_DISTANCES = 50_000
"""Maximum number of elements of a result whose distance is written: a line of one or two MiB."""
NO_LOCKS = frozenset({errno.ENOTSUP, errno.ENOSYS, errno.ENOLCK, errno.EINVAL})
"""Errors of a file system without locks; a run continues without a lock there."""

SPARSE = (
    "message",
    "error",
    "signal",
    "phase",
    "seconds",
    "expected",
    "actual",
    "mismatch",
    "clauses",
    "force",
    "reworded",
    "readings",
    "tags",
    "stderr",
    "attempts",
    "unstable",
    "ulps",
    "excluded",
    "override",
    "exceeded",
)
"""Fields that are omitted if they are empty."""


class ResultsError(HarnessError):
    """A results file cannot be used; the text names file and line."""


class CutOffError(ResultsError):
    """The file contains a run that was cut off, but --resume is missing."""


def header(
    suite: Mapping[str, object],
    backends: Mapping[str, Mapping[str, Any]],
    arguments: Mapping[str, Any],
    covers: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Return the first record of a run.

    Args:
        suite: name and digest of the suite, and the number of all its cases, if it is known.
        backends: by name, the description of each backend, and of its profile.
        arguments: arguments of the run.
        covers: how much of ONNX the suite covers, if it is known; see `specification.completeness`.
    """
    return {
        "kind": "header",
        "format": FORMAT,
        "harness": VERSION,
        "onnx": onnx.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()},
        "started": _now(),
        "suite": dict(suite),
        "backends": {
            name: {key: clean(hello[key], 80) for key in ("name", *IDENTITY) if key in hello}
            | _built(hello)
            | _calls(hello)
            | ({"promise": clean(hello["promise"], MOST_PROMISE)} if hello.get("promise") else {})
            | ({"opset": hello["opset"]} if isinstance(hello.get("opset"), int) else {})
            | {key: hello[key] for key in OF_PROFILE if key in hello}
            | _provider(hello)
            for name, hello in backends.items()
        },
        "arguments": dict(arguments),
        **({"covers": dict(covers)} if covers else {}),
    }


def suite_text(source: Mapping[str, object]) -> str:
    """Return name and digest of a suite: two runs have the same cases if both are equal."""
    return f"{source.get('name', '')} {source.get('digest', '')}".strip() or "none"


def completeness(first: Mapping[str, Any]) -> str:
    """Return how much of ONNX, or of an operator package, the suite of a run covers; empty if it is unknown."""
    if "covers" not in first:
        return ""
    name = line(first["suite"].get("name", MAIN), 60)
    of = "ONNX" if name == MAIN else f"the operator package {name}"
    return f"Coverage of {of}: {COMPLETENESS.format(**first['covers'])}."


def _built(hello: Mapping[str, Any]) -> dict[str, str]:
    """Return the release of onnx that a runtime was built with, if it is known."""
    built = errata.built_with(hello)
    return {"onnx": clean(built, 80)} if built else {}


def _provider(hello: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the description of an execution provider, if the backend is one."""
    known = hello.get("provider", {})
    texts = {key: clean(known[key], 200) for key in OF_PROVIDER if isinstance(known.get(key), str)}
    return {"provider": texts} if texts else {}


def _calls(hello: Mapping[str, Any]) -> dict[str, str]:
    """Return the code of an adapter's hello; code that is too long is omitted."""
    return {key: hello[key] for key in CALLS if isinstance(hello.get(key), str) and len(hello[key]) <= MOST_CODE}


def identity(hello: Mapping[str, Any]) -> dict[str, str]:
    """Return the members of a backend in the header that identify its runtime."""
    return {key: str(hello[key]) for key in IDENTITY if key in hello}


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


_EMPTY: tuple[object, ...] = ("", None, (), {})
_NAMES = tuple(item.name for item in dataclasses.fields(Result))


def to_record(result: Result) -> dict[str, Any]:
    """Return a result as a record of the stream."""
    record = {"kind": "result", **{name: getattr(result, name) for name in _NAMES}}
    if result.seconds is not None and not 0 <= result.seconds < math.inf:
        record["seconds"] = None  # An adapter may report any value.
    return {key: value for key, value in record.items() if key not in SPARSE or value not in _EMPTY}


def encoded(result: Result) -> bytes:
    """Return a result as a line of the stream."""
    if sum(map(len, result.ulps.values())) > MOST_DISTANCES:
        result = dataclasses.replace(result, ulps={})  # With thousands of outputs, the line would be too long to read.
    words = ['{"kind":"result"']
    for name, head, optional in _COLUMNS:
        value = getattr(result, name)
        if name == "seconds" and value is not None and not 0 <= value < math.inf:
            continue
        if value or not optional or value not in _EMPTY:
            words.append(head + _json(value))
    return "".join([*words, "}\n"]).encode("utf-8", "replace")


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_TEXT = json.encoder.encode_basestring
"""Returns a text in JSON, as the encoder does without `ensure_ascii`."""
_COLUMNS = tuple((name, f',"{name}":', name in SPARSE) for name in _NAMES)


def _json(value: object) -> str:
    """Return a member of a result in JSON. Most members are texts, or repeat in many results."""
    if isinstance(value, str):
        return _TEXT(value)
    if type(value) is tuple and all(type(item) is str for item in value):
        return _texts(value)
    return _ENCODER.encode(value)


@functools.lru_cache(maxsize=4096)
def _texts(items: tuple[str, ...]) -> str:
    return _ENCODER.encode(items)


def _encoded(record: Mapping[str, Any]) -> bytes:
    return _ENCODER.encode(record).encode("utf-8", "replace") + b"\n"


def unreadable_record(item: Unreadable) -> dict[str, str]:
    """Return an unreadable case as a record of the stream."""
    return {"kind": "unreadable", "case": item.case, "message": item.message}


def to_unreadable(record: Mapping[str, Any]) -> Unreadable:
    """Return a record of the stream as an unreadable case.

    Raises:
        ValueError: a field is missing or not a string.
    """
    for key in ("case", "message"):
        if not isinstance(record.get(key), str):
            raise ValueError(f"{key!r} is {line(record.get(key), 80)}, expected a string")  # noqa: TRY004 - bad data
    return Unreadable(line(record["case"], 1000), line(record["message"], 1000))


_FIELDS = frozenset(item.name for item in dataclasses.fields(Result))
_VERDICTS = {str(verdict): verdict for verdict in Verdict}


def from_record(record: Mapping[str, Any]) -> Result:
    """Return a record, which must match the schema, as a result."""
    known = {key: value for key, value in record.items() if key in _FIELDS}
    known["verdict"] = _VERDICTS[known["verdict"]]
    for key in ("clauses", "readings", "tags", "attempts"):
        known[key] = tuple(known.get(key, ()))
    for key in ("mismatch", "ulps"):
        known.setdefault(key, {})
    known.setdefault("operator", "")
    known.setdefault("outcome", "values")
    # Like pickle: the constructor of a frozen dataclass takes three times as long, for each of a million lines.
    result = object.__new__(Result)
    result.__dict__.update(known)
    return result


def has_content(path: Path) -> bool:
    """Return whether a file exists and is not empty.

    Raises:
        ResultsError: the file system reports an error.
    """
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False
    except OSError as error:
        raise ResultsError("results-not-readable", f"cannot read {path}: {error.strerror}") from error


def has_results(path: Path) -> bool:
    """Return whether a file contains a result stream, complete or cut off, which cannot be derived from other files."""
    try:
        with _opened(path) as file:
            return bool(records.parse(file.readline(records.MOST_BYTES))["kind"] == "header")
    except (ResultsError, records.RecordError, OSError):
        return False


def check_no_results(path: Path) -> None:
    """Raise ResultsError if a file that can be generated again, such as a report, would replace results."""
    if has_results(path):
        raise ResultsError(
            "results-are-not-overwritten", f"{path} contains results, which are not overwritten; name another file"
        )


class Writer:
    """Writes a stream. Each record is written immediately, so no result is lost.

    A file is locked from the first check until it is closed, because two runs that write to one file would mix their
    lines. The lock is an flock on the file itself: it always ends with the process, and needs no second file.
    """

    def __init__(self, path: Path | None, *, overwrite: bool = False) -> None:
        """Use a path, or None to only count verdicts and the durations of cases.

        Args:
            path: the file, or a pipe or device, which is not checked or locked.
            overwrite: existing results may be replaced.
        """
        self.path, self._overwrite = path, overwrite
        self._file: FileIO | None = None
        self.counts: dict[str, Counter[str]] = {}
        self.faults: list[str] = []
        self._unreadable: set[Unreadable] = set()
        self.busy: dict[str, float] = {}

    def lock(self) -> None:
        """Lock the file, if it exists.

        Raises:
            ResultsError: another run writes to it, or it cannot be written.
        """
        if self.path is not None and self._file is None and self.path.is_file():
            self._file = self._locked(os.O_RDWR)

    def check(self) -> None:
        """Raise ResultsError if an existing file may not be replaced; otherwise lock it."""
        self.lock()
        try:
            self._check()
        except ResultsError:
            self.close()
            raise

    def _check(self) -> None:
        if self.path is None or not has_content(self.path):
            return
        if not has_results(self.path):
            raise ResultsError("not-results", f"{_no_header(self.path)}, and is not overwritten")
        if self._overwrite:
            return
        if Run(self.path).complete:
            raise ResultsError(
                "results-exist",
                f"{self.path} contains results already; name another file, or replace them with --overwrite",
            )
        raise CutOffError(
            "run-cut-off",
            f"{self.path} contains a run that was cut off; continue it with --resume, name another file, or "
            "replace it with "
            "--overwrite",
        )

    def open(self, first: Mapping[str, Any]) -> None:
        """Write the header to a new file.

        Raises:
            ResultsError: the path cannot be written, another run writes to it, or its contents may not be replaced.
        """
        if self.path is None:
            return
        self.check()
        if self._file is None:
            self._file = self._locked(os.O_RDWR | os.O_CREAT if _is_regular(self.path) else os.O_WRONLY)
            self.check()  # Another run may have created it since the first check.
        if _is_regular(self.path):
            self._file.truncate(0)
        self._line(first)

    def resume(self, run: Run) -> None:
        """Open a file that was cut off, to continue after its last complete record.

        Raises:
            ResultsError: it cannot be written, or another run writes to it.
        """
        self._unreadable = set(run.unreadable)
        self.lock()
        if self._file is None:
            raise ResultsError("results-gone", f"{self.path} no longer exists; run without --resume")
        self._file.truncate(run.end)
        self._file.seek(run.end)

    def _locked(self, flags: int) -> FileIO:
        """Open the file and lock it, without waiting for a reader of a pipe."""
        assert self.path is not None  # noqa: S101 - the callers check
        try:
            handle = os.open(self.path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
        except OSError as error:
            why = "this pipe has no reader" if error.errno == errno.ENXIO else error.strerror
            raise ResultsError("results-not-writable", f"cannot write {self.path}: {why}") from error
        os.set_blocking(handle, True)
        file = FileIO(handle, "r+b" if flags & os.O_RDWR else "wb")
        try:
            if _is_regular(self.path):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.close()
            raise ResultsError(
                "results-in-use",
                f"another run is writing to {self.path}; wait until it has ended, or name another file",
            ) from error
        except OSError as error:
            if error.errno not in NO_LOCKS:
                file.close()
                raise ResultsError("results-not-lockable", f"cannot lock {self.path}: {error.strerror}") from error
        return file

    def add(self, result: Result, text: bytes | None = None) -> None:
        """Write and count a result; `text`: its line, if it is encoded already."""
        self.count(result)
        if self._file is not None:
            self._write(encoded(result) if text is None else text)

    def add_unreadable(self, item: Unreadable) -> None:
        """Write an unreadable case, once."""
        if self._file is not None and item not in self._unreadable:
            self._unreadable.add(item)
            self._line(unreadable_record(item))

    def count(self, result: Result) -> None:
        """Count a result that the file contains already."""
        if result.backend not in self.counts:
            self.counts[result.backend] = Counter()
        self.counts[result.backend][str(result.verdict)] += 1
        if result.seconds is not None and 0 <= result.seconds < math.inf:  # An adapter may report any value.
            self.busy[result.backend] = self.busy.get(result.backend, 0.0) + result.seconds

    def finish(self, seconds: float, cpu: Mapping[str, float] | None = None) -> None:
        """Write the footer, which marks the run as complete.

        Args:
            seconds: duration of the run.
            cpu: seconds of CPU time; see cpu_time.Cost.
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
        """Close the file; without a previous `finish`, it counts as cut off."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def discard(self) -> None:
        """Remove the file, unless it is a pipe or device."""
        if self.path is not None and self._file is not None and _is_regular(self.path):
            self.path.unlink(missing_ok=True)
        self.close()

    def _line(self, record: Mapping[str, Any]) -> None:
        self._write(_encoded(record))

    def _write(self, text: bytes) -> None:
        assert self._file is not None  # noqa: S101
        view = memoryview(text)
        try:
            while view:
                view = view[self._file.write(view) :]
        except OSError as error:
            raise ResultsError(
                "results-not-written", f"cannot write {self.path}: {error.strerror}; the existing results are valid"
            ) from error


def _is_regular(path: Path) -> bool:
    """Return whether a path is a regular file, or does not exist yet."""
    return path.is_file() or not path.exists()


def _no_header(path: Path) -> str:
    return f"{path}, line 1: expected the header of a run, as written by `run --results`; name another file"


def _opened(path: Path) -> BufferedReader:
    """Open a results file to read it.

    Raises:
        ResultsError: it cannot be read, or is not a regular file: a pipe can be read only once.
    """
    try:
        if path.exists() and not path.is_file():
            what = "a folder" if path.is_dir() else "a pipe or a device"
            raise ResultsError(
                "results-not-a-file", f"{path} is {what}; results are read several times, so store them in a file"
            )
        return path.open("rb")
    except OSError as error:
        raise ResultsError("results-not-readable", f"cannot read {path}: {error.strerror}") from error


class Run:
    """A results file that is read lazily. Every record is validated against the published schema.

    Attributes:
        header: the first record.
        complete: whether there is a footer.
        unreadable: cases of the suite that could not be read.
        end: bytes up to the end of the last complete record.
    """

    def __init__(self, path: Path) -> None:
        """Read the header, and all records once, to validate them and to find the footer.

        Raises:
            ResultsError: the file is missing, damaged, or not a results file.
        """
        self.path = self._source = path
        first = self._first()
        if self.header.get("kind") != "header" and first.lstrip().startswith(b"{") and self._convert():
            first = self._first()
        if self.header.get("kind") != "header":
            raise ResultsError("header-missing", _no_header(path))
        if self.header.get("format") != FORMAT:
            raise ResultsError(
                "unknown-format",
                f"{path}: format {line(repr(self.header.get('format')), 40)}; this version reads format {FORMAT}",
            )
        try:
            records.read(first)
        except records.RecordError as error:
            raise ResultsError(
                "header-invalid", f"{path}, line 1: not a header: {error}; the file is damaged, run again"
            ) from None
        self.footer: Mapping[str, Any] | None = None
        self.unreadable: tuple[Unreadable, ...] = ()
        self.end = len(first)
        self._validated: tuple[int, int] | None = None
        for _ in self._records():
            pass

    def _first(self) -> bytes:
        """Return the first line, and store it as the header if it is a record."""
        with _opened(self._source) as file:
            first = self._next(file)
        try:
            self.header = records.parse(first)
        except records.RecordError:
            self.header = {}
        return first

    def _convert(self) -> bool:
        """Read a report of `ep_report` as a stream, from a temporary file; return whether it is one.

        Raises:
            ResultsError: the report is malformed.
        """
        try:
            lines = ep_report.lines(self.path)
        except ep_report.EpReportError as error:
            raise ResultsError("ep-report-invalid", f"{self.path}: {error}; write it again") from None
        if lines is None:
            return False
        handle, name = tempfile.mkstemp(prefix="onnx-conformance-", suffix=".ndjson")
        weakref.finalize(self, os.unlink, name)
        with os.fdopen(handle, "wb") as file:
            file.writelines(lines)
        self._source = Path(name)
        return True

    @property
    def converted(self) -> bool:
        """Whether the file is a report of another format, which cannot be continued."""
        return self._source != self.path

    @property
    def complete(self) -> bool:
        """Whether the run was not cut off."""
        return self.footer is not None

    @property
    def cut_off(self) -> str:
        """The message of commands that need a complete run."""
        return f"{self.path} was cut off; complete it first with `run --resume --results {self.path}`"

    def results(self) -> Iterator[Result]:
        """Yield the results in the order of the file.

        Raises:
            ResultsError: a record before the last is damaged, or does not belong to a run with this header.
        """
        return map(from_record, self._records())

    def _records(self) -> Iterator[dict[str, Any]]:
        """Yield the records of results; store the unreadable cases and the footer."""
        with _opened(self._source) as file:
            status = os.fstat(file.fileno())
            stamp = (status.st_size, status.st_mtime_ns)
            # Validation takes as long as reading, so a file that has not changed is validated once.
            read = records.read_again if self._validated == stamp else records.read
            end = len(self._next(file))
            number, damaged, ended = 1, "", False
            unreadable: dict[Unreadable, None] = {}
            while text := self._next(file):
                number += 1
                where = f"{self.path}, line {number}"
                if damaged:
                    raise ResultsError(
                        "record-damaged",
                        f"{damaged}; remove this line and all following ones, and continue with --resume",
                    )
                try:
                    record = read(text)
                except records.BrokenJsonError as error:
                    damaged = f"{where}: not a record of the result stream: {error}"
                    continue  # Allowed only for the last line of a run that was cut off.
                except records.RecordError as error:
                    raise ResultsError(
                        "record-invalid", f"{where}: {error}; remove the line and run with --resume"
                    ) from None
                if ended or record["kind"] == "header":
                    kind = str(record["kind"]) if not ended else "record after the footer"
                    raise ResultsError(
                        "two-streams", f"{where}: unexpected {kind}; the file contains two streams, separate them"
                    )
                end += len(text)
                if record["kind"] == "footer":
                    self.footer, ended = record, True
                    continue
                if record["kind"] == "unreadable":
                    unreadable[to_unreadable(record)] = None
                    continue
                if record["backend"] not in self.header["backends"]:
                    raise ResultsError(
                        "record-of-unknown-backend",
                        f"{where}: backend {line(record['backend'], 80)!r} is not in the header; remove the line "
                        "and run with --resume",
                    )
                yield record
            self.end, self.unreadable = end, tuple(unreadable)
            self._validated = None if damaged else stamp

    def _next(self, file: BufferedReader) -> bytes:
        """Return the next line, or the first MOST_BYTES of a longer one."""
        try:
            return file.readline(records.MOST_BYTES)
        except OSError as error:
            raise ResultsError("results-not-readable", f"cannot read {self.path}: {error.strerror}") from error
