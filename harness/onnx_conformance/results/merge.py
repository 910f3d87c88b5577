# SPDX-License-Identifier: Apache-2.0
"""Merges results files: the shards of one run, or runs of several backends on the same suite."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.sample import in_sample
from onnx_conformance.results import sampling
from onnx_conformance.results.stream import ResultsError, Run, Writer, identity, suite_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from onnx_conformance.base.verdict import Verdict

_SHARD = re.compile(r"\s*--shard (\d{1,9})/(\d{1,9})")
MOST_MISSING = 10
"""Maximum number of missing shards in a message."""


def merge(paths: Sequence[Path], out: Path, sample: int = 1, *, overwrite: bool = False) -> int:
    """Write the results of several files to one; return their number.

    Args:
        paths: the files.
        out: the file to write.
        sample: n, to keep 1 case in n, the same ones as a run with this sample; a backend with a smaller sample keeps
            that one.
        overwrite: `out` may be replaced, unless it is one of the files to merge.

    Raises:
        ResultsError: a file was cut off, the files have different suites or selections, a shard is missing, or two
            files have different verdicts for the same case and backend; or `out` exists already.
    """
    if any(path.exists() and out.exists() and path.samefile(out) for path in paths):
        raise ResultsError("merged-into-itself", f"{out} is one of the files to merge; name another file for --out")
    writer = Writer(out, overwrite=overwrite)
    try:
        writer.check()
        return _merge(paths, writer, sample)
    finally:
        writer.close()


def _merge(paths: Sequence[Path], writer: Writer, sample: int) -> int:
    runs = [Run(path) for path in paths]
    for run in runs:
        if not run.complete:
            raise ResultsError("merge-of-cut-off-run", run.cut_off)
        _check_compatible(runs[0], run)
    _check_shards(runs)
    owners = {key: first for key, first in _owners(runs).items() if in_sample(key[1], sample)}
    writer.open(_header(runs, sample))
    try:
        for index, run in enumerate(runs):
            for result in run.results():
                if owners.get((result.backend, result.case)) == index:
                    writer.add(result)
            for item in run.unreadable:
                writer.add_unreadable(item)
        writer.finish(max(float((run.footer or {}).get("seconds", 0)) for run in runs))
    except BaseException:
        writer.discard()  # A part would look like a run to resume, and the files can be merged again.
        raise
    return len(owners)


def _owners(runs: Sequence[Run]) -> dict[tuple[str, str], int]:
    """Return the first file that has a result, by backend and case.

    Raises:
        ResultsError: another file has a different verdict.
    """
    verdicts: dict[tuple[str, str], tuple[Verdict, int]] = {}
    for index, run in enumerate(runs):
        for result in run.results():
            verdict, first = verdicts.setdefault((result.backend, result.case), (result.verdict, index))
            if verdict is not result.verdict:
                raise ResultsError(
                    "verdicts-differ",
                    f"{result.case} on {result.backend} is {verdict} in {runs[first].path}, but {result.verdict} in "
                    f"{run.path}; these are different runs, omit one of them",
                )
    return {key: first for key, (_, first) in verdicts.items()}


def _selection(run: Run) -> str:
    """Return the selection of a run, without its shard."""
    return _SHARD.sub("", run.header["arguments"].get("selection", ""))


def _shard(run: Run) -> tuple[int, int]:
    match = _SHARD.search(run.header["arguments"].get("selection", ""))
    return (int(match[1]), int(match[2])) if match else (1, 1)


def _check_compatible(first: Run, other: Run) -> None:
    """Raise ResultsError if two runs have different suites, selections, references, onnx versions or runtimes."""
    for what, mine, its in (
        ("suite", suite_text(first.header["suite"]), suite_text(other.header["suite"])),
        ("selection", _selection(first), _selection(other)),
        ("reference", first.header["arguments"].get("reference", ""), other.header["arguments"].get("reference", "")),
        ("onnx", first.header.get("onnx"), other.header.get("onnx")),
    ):
        if mine != its:
            raise ResultsError(
                "runs-differ",
                f"{first.path} and {other.path} cannot be merged: their {what} differs ({mine or 'none'} and "
                f"{its or 'none'}); merge runs with the same {what}",
            )
    for backend, hello in other.header["backends"].items():
        mine, its = identity(first.header["backends"].get(backend, hello)), identity(hello)
        if mine != its:
            raise ResultsError(
                "backends-differ",
                f"{first.path} and {other.path} cannot be merged: {backend} is {_text(mine)} in the first, "
                f"but {_text(its)} in the second",
            )


def _text(record: dict[str, Any]) -> str:
    return " ".join(str(item) for item in record.values())


def _check_shards(runs: Sequence[Run]) -> None:
    """Raise ResultsError if a backend lacks a shard, or has a sample in one run and all cases in another."""
    for backend in dict.fromkeys(name for run in runs for name in run.header["backends"]):
        by_sample = {
            sampling.from_header(run.header).get(backend, 1): run for run in runs if backend in run.header["backends"]
        }
        if len(by_sample) > 1:
            (one, first), (other, second), *_ = by_sample.items()
            words = {count: sampling.in_words(count) or "all cases" for count in by_sample}
            raise ResultsError(
                "samples-differ",
                f"{backend} ran {words[one]} in {first.path}, but {words[other]} in {second.path}; merge runs with "
                "the same",
            )
        shards = [_shard(run) for run in runs if backend in run.header["backends"]]
        counts = sorted({count for _, count in shards})
        if len(counts) > 1:
            raise ResultsError(
                "shards-differ",
                f"{backend} has shards of {' and of '.join(map(str, counts))}; merge shards of the same number",
            )
        present, count = {index for index, _ in shards}, counts[0]
        # A header may contain any number of shards, so the list of missing ones is bounded.
        missing = list(
            itertools.islice((index for index in range(1, count + 1) if index not in present), MOST_MISSING + 1)
        )
        if missing:
            names = ", ".join(f"{index}/{count}" for index in missing[:MOST_MISSING])
            names += " and others" if len(missing) > MOST_MISSING else ""
            raise ResultsError(
                "shards-missing",
                f"{backend} lacks --shard {names}; run the missing shards, and merge their files as well",
            )


def _header(runs: Sequence[Run], sample: int) -> dict[str, Any]:
    first = runs[0].header
    backends: dict[str, Any] = {}
    for run in runs:
        backends.update(run.header["backends"])
    arguments = {**first["arguments"], "selection": _selection(runs[0])}
    sampled = {
        name: max(sample, sampling.from_header(run.header).get(name, 1))
        for run in runs
        for name in run.header["backends"]
    }
    sampled = {name: count for name, count in sampled.items() if count > 1}
    return {
        **first,
        "started": min(run.header["started"] for run in runs),
        "backends": backends,
        "arguments": {**arguments, "samples": sampled} if sampled else arguments,
    }
