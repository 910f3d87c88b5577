# SPDX-License-Identifier: Apache-2.0
"""The results files of a run: one for all backends, or one for each backend in a folder.

Each is a complete stream with its own header and footer, and can be resumed if it was cut off.
"""

from __future__ import annotations

import hashlib
import re
from collections import ChainMap, Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onnx_conformance.results import sampling
from onnx_conformance.results.stream import (
    CutOffError,
    ResultsError,
    Run,
    Writer,
    has_content,
    header,
    identity,
    suite_text,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from onnx_conformance.base.verdict import Result, Unreadable

MOST_NAME = 80
"""Maximum number of characters of a backend's name in the name of its file."""


def file_names(backends: Sequence[str]) -> dict[str, str]:
    """Return the name of each backend's file: the backend's name, with characters that every file system allows.

    Names with replaced characters, and names that differ only in case, are extended by a digest of the backend's name.
    """
    plain = {name: re.sub(r"[^A-Za-z0-9._=+]+", "-", name).strip("-.")[:MOST_NAME] for name in backends}
    uses = Counter(text.casefold() for text in plain.values())
    return {
        name: f"{text if name == text and uses[text.casefold()] == 1 else f'{text}-{_digest(name)}'.strip('-')}.ndjson"
        for name, text in plain.items()
    }


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:8]


@dataclass
class Stream:
    """One results file of a run.

    Attributes:
        backends: the backends whose results it contains.
        earlier: its contents before this run, if this run resumes it.
        begun: whether this run writes to it.
    """

    backends: tuple[str, ...]
    writer: Writer
    earlier: Run | None = None
    begun: bool = field(default=False, init=False)

    @property
    def path(self) -> Path | None:
        """The path of the file; None: results are only counted."""
        return self.writer.path


class Streams:
    """Every results file of a run; each result is written to the file of its backend."""

    def __init__(
        self,
        path: Path | None,
        backends: Sequence[str],
        reference: str = "",
        *,
        apart: bool = False,
        overwrite: bool = False,
    ) -> None:
        """Determine the file names; nothing is opened yet.

        Args:
            path: a file, or a folder if `apart` is set; None: results are only counted.
            backends: the backends whose results are written.
            reference: the backend whose outputs are the expected ones; every header contains it as well.
            apart: each backend has a separate file.
            overwrite: existing results may be replaced.
        """
        self.path, self._reference = path, reference
        if path is not None and apart:
            names = file_names(backends)
            self.all = [Stream((name,), Writer(path / names[name], overwrite=overwrite)) for name in backends]
        else:
            self.all = [Stream(tuple(backends), Writer(path, overwrite=overwrite))]
        self._apart = apart
        self._stream_of = {name: stream for stream in self.all for name in stream.backends}

    def leave_out(self, backend: str) -> None:
        """Write no results of a backend, because it did not start."""
        for stream in self.all:
            stream.backends = tuple(name for name in stream.backends if name != backend)
        self.all = [stream for stream in self.all if stream.backends]

    @property
    def complete(self) -> bool:
        """Whether every file contained a complete run before this run began."""
        return all(stream.earlier is not None and stream.earlier.complete for stream in self.all)

    def resume(self, source: Mapping[str, object], arguments: Mapping[str, Any]) -> None:
        """Read the files to resume.

        Args:
            source: the suite, as in the header.
            arguments: arguments of this run, as in the header.

        Raises:
            ResultsError: a file has another suite, other backends or other arguments; or there is nothing left to do.
        """
        if self.path is None:
            raise ResultsError("resume-without-results", "--resume needs --results FILE, the file to resume")
        for stream in self.all:
            stream.writer.lock()  # Before reading it: another run may be writing its footer.
            if stream.path is not None and has_content(stream.path):
                stream.earlier = Run(stream.path)
                if stream.earlier.converted:
                    raise ResultsError(
                        "report-to-resume", f"{stream.path} is a report, which cannot be resumed; name a results file"
                    )
                self._check_same_run(stream, stream.earlier, source, arguments)
        if self.complete:
            raise ResultsError("nothing-to-resume", f"{self.path} is complete; there is nothing to resume")

    def _check_same_run(
        self, stream: Stream, run: Run, source: Mapping[str, object], arguments: Mapping[str, Any]
    ) -> None:
        """Raise ResultsError if a file has another suite, other backends or other arguments than this run."""
        known = {"repeat": 0, "reference": "", **run.header["arguments"]}
        reference = {self._reference} - {"", *stream.backends}
        sampled = sampling.from_header({"arguments": arguments})
        for what, was, is_now in (
            ("suite", suite_text(run.header["suite"]), suite_text(source)),
            ("backends", _text(sorted(set(run.header["backends"]) - reference)), _text(sorted(stream.backends))),
            ("selection", _text(known.get("selection")), _text(arguments["selection"])),
            (
                "sample",
                _samples_text(sampling.from_header(run.header)),
                _samples_text({name: count for name, count in sampled.items() if name in stream.backends}),
            ),
            ("reference", _text(known["reference"]), _text(arguments["reference"])),
            ("repeat", known["repeat"], arguments["repeat"]),
        ):
            if was != is_now:
                raise ResultsError(
                    "another-run-to-resume",
                    f"{run.path} cannot be resumed: its {what} is {was}, but that of this run is {is_now}; "
                    "use the same, or name another --results file",
                )

    def check(self) -> None:
        """Raise ResultsError if this run may not replace a file; among several errors, prefer a CutOffError."""
        refusals = []
        for stream in self.all:
            try:
                if stream.earlier is None:
                    stream.writer.check()
            except ResultsError as error:
                refusals.append(error)
        if refusals:
            raise min(refusals, key=lambda refusal: not isinstance(refusal, CutOffError))

    def header_of(self, backend: str) -> Mapping[str, Any] | None:
        """Return the header of the resumed file with a backend's results, or None."""
        earlier = [stream.earlier for stream in self.all if stream.earlier is not None]
        return next((run.header for run in earlier if backend in run.header["backends"]), None)

    def results(self) -> Iterator[Result]:
        """Yield, and count, the results of the resumed files."""
        for stream in self.all:
            for result in stream.earlier.results() if stream.earlier else ():
                stream.writer.count(result)
                yield result

    def begin(self, first: Mapping[str, Any], hellos: Mapping[str, Mapping[str, Any]]) -> None:
        """Open every file: write the header of a new one, continue after the last record of one that was cut off.

        Args:
            first: the header of the whole run.
            hellos: each backend's description of itself.

        Raises:
            ResultsError: a file cannot be written, or contains a run that was cut off and is not resumed; or a backend
                with the same name is another runtime than in the resumed file.
        """
        for stream in self.all:
            if stream.earlier is not None:
                _check_same_runtimes(stream.earlier, hellos)
        self.check()  # Check all files before the first one is overwritten.
        for stream in self.all:
            if stream.earlier is None:
                stream.writer.open(self._narrowed(first, stream) if self._apart else first)
            elif not stream.earlier.complete:
                stream.writer.resume(stream.earlier)
            stream.begun = stream.earlier is None or not stream.earlier.complete

    def _narrowed(self, first: Mapping[str, Any], stream: Stream) -> dict[str, Any]:
        """Return the header of the whole run, limited to the backends of one file."""
        names = {*stream.backends, self._reference}
        sampled = {name: count for name, count in sampling.from_header(first).items() if name in stream.backends}
        arguments = {key: value for key, value in first["arguments"].items() if key != "samples"}
        return {
            **first,
            "backends": {name: hello for name, hello in first["backends"].items() if name in names},
            "arguments": {**arguments, **({"samples": sampled} if sampled else {})},
        }

    def add(self, result: Result, text: bytes | None = None) -> None:
        """Write and count a result; `text`: its line, if it is encoded already."""
        self._stream_of[result.backend].writer.add(result, text)

    def add_unreadable(self, item: Unreadable) -> None:
        """Write a case that could not be read to every file."""
        for stream in self.all:
            stream.writer.add_unreadable(item)

    def finish(
        self, seconds: float, faults: Sequence[tuple[str, str]], given_up: Collection[str], cpu: Mapping[str, float]
    ) -> None:
        """Write the footers of the complete files.

        Args:
            seconds: duration of the run.
            faults: faults of the run itself, each with its backend (empty: none) and a sentence.
            given_up: backends whose run was aborted: without a footer, their file counts as cut off.
            cpu: seconds of CPU time, as in the footer.
        """
        for stream in self.all:
            if not stream.begun or self._reference in given_up or set(stream.backends) & set(given_up):
                continue
            own = {"", self._reference, *stream.backends}
            stream.writer.faults = [fault for backend, fault in faults if backend in own]
            stream.writer.finish(seconds, cpu)

    def close(self) -> None:
        """Close every file; without a previous `finish`, it counts as cut off."""
        for stream in self.all:
            stream.writer.close()

    @property
    def written(self) -> list[Path]:
        """The files, in the order of the backends."""
        return [stream.path for stream in self.all if stream.path is not None]

    @property
    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """By backend and verdict, the number of results so far; a live view."""
        return ChainMap(*(stream.writer.counts for stream in self.all))

    @property
    def busy(self) -> dict[str, float]:
        """By backend, the duration of its cases in seconds, as measured by its adapter."""
        return {name: seconds for stream in self.all for name, seconds in stream.writer.busy.items()}


def _samples_text(sampled: Mapping[str, int]) -> str:
    return ", ".join(f"{name} 1/{count}" for name, count in sorted(sampled.items())) or "none"


def _text(value: object) -> str:
    """Return a value of the header as text for a message."""
    if isinstance(value, dict):
        return " ".join(str(item) for item in value.values())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value or "") or "none"


def _check_same_runtimes(run: Run, hellos: Mapping[str, Mapping[str, object]]) -> None:
    """Raise ResultsError if a backend with the same name is another runtime than in the run to resume."""
    now = header({}, hellos, {})["backends"]
    for name, was in run.header["backends"].items():
        then, is_now = identity(was), identity(now.get(name, was))
        if then != is_now:
            raise ResultsError(
                "another-backend-to-resume",
                f"{run.path} cannot be resumed: {name} was {_text(then)}, but is now {_text(is_now)}; "
                "restore it, or name another --results file",
            )
