# SPDX-License-Identifier: Apache-2.0
"""`merge`: shards and backends joined, and what does not belong together."""

from __future__ import annotations

import copy
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest

from commands import command
from onnx_conformance.base.sample import in_sample
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.results import merge, sampling
from onnx_conformance.results.stream import ResultsError, Run, Writer, header
from refusals import refuses

if TYPE_CHECKING:
    from pathlib import Path

V = Verdict
MINE = {"mine": {"runtime": "mine", "version": "1"}}
HEAD = header({"name": "generated", "digest": "d"}, MINE, {"selection": "", "reference": ""}) | {"onnx": "1.23.2"}


def write(path: Path, verdicts: dict[str, Verdict], *, selection: str = "", complete: bool = True, **head: Any) -> Path:
    first = {**copy.deepcopy(HEAD), **head}
    first["arguments"]["selection"] = selection
    (backend,) = first["backends"]
    writer = Writer(path)
    writer.open(first)
    for case, verdict in verdicts.items():
        writer.add(Result(case, "ai.onnx/Split/18", backend, verdict, "values"))
    if complete:
        writer.finish(2.0)
    writer.close()
    return path


def test_shards_are_joined(tmp_path: Path) -> None:
    parts = [
        write(tmp_path / f"{i}.ndjson", {f"case{i}": V.PASS}, selection=f"--op Split --shard {i}/3") for i in (1, 2, 3)
    ]
    assert merge.merge(parts, tmp_path / "all.ndjson") == 3
    run = Run(tmp_path / "all.ndjson")
    assert run.complete
    assert [result.case for result in run.results()] == ["case1", "case2", "case3"]
    assert run.header["arguments"]["selection"] == "--op Split"
    assert run.footer
    assert run.footer["counts"] == {"mine": {"pass": 3}}


def test_backends_are_joined(tmp_path: Path) -> None:
    first = write(tmp_path / "a", {"x": V.PASS})
    second = write(tmp_path / "b", {"x": V.CRASH}, backends={"other": {"runtime": "other", "version": "7"}})
    assert merge.merge([first, second], tmp_path / "all") == 2
    assert list(Run(tmp_path / "all").header["backends"]) == ["mine", "other"]


def test_equal_results_of_two_files_are_merged_once(tmp_path: Path) -> None:
    parts = [write(tmp_path / name, {"x": V.PASS, name: V.REFUSED}) for name in "ab"]
    assert merge.merge(parts, tmp_path / "all") == 3


@pytest.mark.parametrize(
    ("second", "sentence"),
    [
        ({"verdicts": {"x": V.CRASH}}, "x on mine is pass in {path}a, but crash in {path}b"),
        ({"complete": False}, "b was cut off; complete it first with `run --resume --results"),
        ({"selection": "--op Split"}, "cannot be merged: their selection differs (none and --op Split)"),
        (
            {"suite": {"name": "generated", "digest": "e"}},
            "cannot be merged: their suite differs (generated d and generated e)",
        ),
        ({"onnx": "1.22.0"}, "cannot be merged: their onnx differs (1.23.2 and 1.22.0)"),
        (
            {"backends": {"mine": {"runtime": "mine", "version": "2"}}},
            "mine is mine 1 in the first, but mine 2 in the second",
        ),
    ],
)
def test_files_of_different_runs_are_refused(second: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    first = write(tmp_path / "a", {"x": V.PASS})
    other = write(tmp_path / "b", **{"verdicts": {"y": V.PASS}, **second})
    with pytest.raises(ResultsError) as caught:
        merge.merge([first, other], tmp_path / "all")
    assert sentence.format(path=f"{tmp_path}/") in str(caught.value), caught.value
    assert not (tmp_path / "all").exists()


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    parts = [write(tmp_path / f"{i}", {f"case{i}": V.PASS}, selection=f"--shard {i}/4") for i in (1, 4)]
    with refuses("shards-missing", "2/4, 3/4", kind=ResultsError):
        merge.merge(parts, tmp_path / "all")
    other = write(tmp_path / "other", {"z": V.PASS}, selection="--shard 1/2")
    with refuses("shards-differ", "2", "4", kind=ResultsError):
        merge.merge([*parts, other], tmp_path / "all")


def test_a_sample_of_a_merge_is_that_of_a_run(tmp_path: Path) -> None:
    names = [f"case{i}" for i in range(400)]
    whole = write(tmp_path / "a", dict.fromkeys(names, V.PASS))
    rare = {name: V.CRASH for name in names if in_sample(name, 80)}
    slow = write(tmp_path / "b", rare, backends={"slow": {"runtime": "slow", "version": "7"}})
    text = slow.read_text().replace('"reference":""', '"reference":"","samples":{"slow":80}', 1)
    slow.write_text(text)
    count = merge.merge([whole, slow], tmp_path / "all", sample=8)
    run = Run(tmp_path / "all")
    assert sampling.from_header(run.header) == {"mine": 8, "slow": 80}
    got = {(result.backend, result.case) for result in run.results()}
    assert got == {("mine", name) for name in names if in_sample(name, 8)} | {("slow", name) for name in rare}
    assert count == len(got) < len(names)


def test_a_sample_of_a_merge_is_the_same_for_all_backends(tmp_path: Path) -> None:
    whole = write(tmp_path / "a", {"x": V.PASS})
    done = command("merge", whole, "--sample", "mine=1/8", "--out", tmp_path / "all")
    assert done.status == 2, done.text
    assert "[sample-of-one-backend]" in done.err


def test_a_header_that_names_millions_of_shards_costs_nothing(tmp_path: Path) -> None:
    one = write(tmp_path / "a", {"x": V.PASS}, selection="--shard 2/400000000")
    tracemalloc.start()
    try:
        with refuses("shards-missing", "1/400000000, 3/400000000, ", kind=ResultsError):
            merge.merge([one], tmp_path / "all")
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


def test_results_are_not_joined_over_results(tmp_path: Path) -> None:
    one = write(tmp_path / "a", {"x": V.PASS})
    other, before = write(tmp_path / "b", {"y": V.PASS}), one.read_bytes()
    done = command("merge", one, other, "--out", other)
    assert (done.status, "[merged-into-itself]" in done.err) == (2, True), done.text
    same = command("merge", one, other, "--overwrite", "--out", tmp_path / "." / "a")
    assert (same.status, "[merged-into-itself]" in same.err) == (2, True), same.text
    there = write(tmp_path / "there", {"z": V.CRASH})
    refused = command("merge", one, other, "--out", there)
    assert (refused.status, "--overwrite" in refused.err) == (2, True), refused.text
    assert [item.case for item in Run(there).results()] == ["z"]
    assert command("merge", one, other, "--out", there, "--overwrite").status == 0
    assert [item.case for item in Run(there).results()] == ["x", "y"]
    assert one.read_bytes() == before


def test_a_merge_that_fails_leaves_no_file_that_looks_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = write(tmp_path / "a", {"x": V.PASS})

    def full(*_: object) -> None:
        raise ResultsError("disk-full", "the disk is full")

    monkeypatch.setattr(Writer, "add", full)
    with refuses("disk-full", kind=ResultsError):
        merge.merge([one], tmp_path / "all")
    assert not (tmp_path / "all").exists()
