"""Joins results files: the shards of one run, or runs of several backends on one suite."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from harness.case.case import in_sample
from harness.results import sampling
from harness.results.stream import ResultsError, Run, Writer, identity

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from harness.verdict import Verdict

_SHARD = re.compile(r"\s*--shard (\d{1,9})/(\d{1,9})")
MOST_MISSING = 10
"""Shards that are named where more are missing."""


def merge(paths: Sequence[Path], out: Path, sample: int = 1, *, overwrite: bool = False) -> int:
    """Write the results of several files to one; return how many there are.

    Args:
        paths: the files.
        out: where they go.
        sample: keep 1 case in so many, as a run with such a sample would; a smaller one that a backend has stays.
        overwrite: results that are at `out` may be replaced, where they are none of those that are joined.

    Raises:
        ResultsError: a file was cut off, they are of different suites or selections, a shard is missing, or two say
            something else of one case on one backend; or `out` is there already.
    """
    if any(path.exists() and out.exists() and path.samefile(out) for path in paths):
        raise ResultsError(f"{out} is one of the files to join; name another for --out")
    writer = Writer(out, overwrite=overwrite)
    try:
        writer.check()
        return _join(paths, writer, sample)
    finally:
        writer.close()


def _join(paths: Sequence[Path], writer: Writer, sample: int) -> int:
    runs = [Run(path) for path in paths]
    for run in runs:
        if not run.complete:
            raise ResultsError(run.cut_off)
        _same(runs[0], run)
    _whole(runs)
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
        writer.discard()  # Half of it would look like a run to go on with, and it can be joined again.
        raise
    return len(owners)


def _owners(runs: Sequence[Run]) -> dict[tuple[str, str], int]:
    """Return which file is the first to speak of a case on a backend.

    Raises:
        ResultsError: another file says something else of it.
    """
    said: dict[tuple[str, str], tuple[Verdict, int]] = {}
    for index, run in enumerate(runs):
        for result in run.results():
            verdict, first = said.setdefault((result.backend, result.case), (result.verdict, index))
            if verdict is not result.verdict:
                raise ResultsError(
                    f"{runs[first].path} says {verdict} of {result.case} on {result.backend}, {run.path} says "
                    f"{result.verdict}; they are not of one run, leave one out"
                )
    return {key: first for key, (_, first) in said.items()}


def _selection(run: Run) -> str:
    """Return what a run selected, its shard left aside."""
    return _SHARD.sub("", run.header["arguments"].get("selection", ""))


def _shard(run: Run) -> tuple[int, int]:
    found = _SHARD.search(run.header["arguments"].get("selection", ""))
    return (int(found[1]), int(found[2])) if found else (1, 1)


def _same(first: Run, other: Run) -> None:
    for what, mine, its in (
        ("suite", _named(first.header["suite"]), _named(other.header["suite"])),
        ("selection", _selection(first), _selection(other)),
        ("reference", first.header["arguments"].get("reference", ""), other.header["arguments"].get("reference", "")),
        ("onnx", first.header.get("onnx"), other.header.get("onnx")),
    ):
        if mine != its:
            raise ResultsError(
                f"{first.path} and {other.path} cannot be merged: {what} {mine or 'none'} and {its or 'none'}; merge "
                "what was run on the same"
            )
    for backend, said in other.header["backends"].items():
        known, is_now = identity(first.header["backends"].get(backend, said)), identity(said)
        if known != is_now:
            raise ResultsError(
                f"{first.path} and {other.path} cannot be merged: {backend} is {_named(known)} in one, "
                f"{_named(is_now)} in the other"
            )


def _named(said: dict[str, Any]) -> str:
    return " ".join(str(item) for item in said.values())


def _whole(runs: Sequence[Run]) -> None:
    """Raise ResultsError if a backend lacks a shard, or was asked all of one and a sample of another."""
    for backend in dict.fromkeys(name for run in runs for name in run.header["backends"]):
        of = {sampling.of(run.header).get(backend, 1): run for run in runs if backend in run.header["backends"]}
        if len(of) > 1:
            (one, first), (other, second), *_ = of.items()
            told = {count: sampling.said(count) or "all cases" for count in of}
            raise ResultsError(
                f"{backend} was asked {told[one]} in {first.path} and {told[other]} in {second.path}; merge one kind"
            )
        shards = [_shard(run) for run in runs if backend in run.header["backends"]]
        counts = sorted({count for _, count in shards})
        if len(counts) > 1:
            raise ResultsError(f"{backend} was run in shards of {' and of '.join(map(str, counts))}; merge one kind")
        there, count = {index for index, _ in shards}, counts[0]
        # A header may say that there are a thousand million, so they are not all written down.
        missing = list(
            itertools.islice((index for index in range(1, count + 1) if index not in there), MOST_MISSING + 1)
        )
        if missing:
            wanted = ", ".join(f"{index}/{count}" for index in missing[:MOST_MISSING])
            wanted += " and others" if len(missing) > MOST_MISSING else ""
            raise ResultsError(f"{backend} lacks --shard {wanted}; run what is missing, and name its file too")


def _header(runs: Sequence[Run], sample: int) -> dict[str, Any]:
    first = runs[0].header
    backends: dict[str, Any] = {}
    for run in runs:
        backends.update(run.header["backends"])
    arguments = {**first["arguments"], "selection": _selection(runs[0])}
    sampled = {
        name: max(sample, sampling.of(run.header).get(name, 1)) for run in runs for name in run.header["backends"]
    }
    sampled = {name: count for name, count in sampled.items() if count > 1}
    return {
        **first,
        "started": min(run.header["started"] for run in runs),
        "backends": backends,
        "arguments": {**arguments, "samples": sampled} if sampled else arguments,
    }
