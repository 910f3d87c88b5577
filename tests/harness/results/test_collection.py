# SPDX-License-Identifier: Apache-2.0
"""A combined site shows only results that it can compare."""

from __future__ import annotations

import lzma
from typing import TYPE_CHECKING, Any

import pytest

from commands import command
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.results import collection
from onnx_conformance.results.fetching import Limits
from onnx_conformance.results.sources import Source
from onnx_conformance.suites.lookup import open_suite
from runs import result, run_of

if TYPE_CHECKING:
    from pathlib import Path

SUITE = {"name": "generated", "digest": "0123abcd"}
REJECTED = result("axis", outcome="rejects")
"""A passed case of an invalid model."""


def collected(tmp_path: Path, *paths: Path) -> collection.Collection:
    folder = tmp_path / "collected"
    folder.mkdir()
    return collection.collect([Source(path.stem, str(path)) for path in paths], SUITE, folder, Limits())


def written(path: Path, *results: Result, **more: Any) -> Path:
    run_of(path, *(results or (result(), REJECTED)), **more)
    return path


def test_sources_with_different_versions_are_accepted(tmp_path: Path) -> None:
    plain = written(tmp_path / "plain.ndjson")
    packed = tmp_path / "packed.ndjson.xz"
    hello = {"mine==2.0": {"runtime": "mine", "version": "2.0"}}
    packed.write_bytes(lzma.compress(written(tmp_path / "r", result(backend="mine==2.0"), hellos=hello).read_bytes()))
    found = collected(tmp_path, plain, packed)
    assert ([run.path.name for run in found.runs], found.refused) == (["plain.ndjson", "packed.ndjson.ndjson"], [])


@pytest.mark.parametrize(
    ("problem", "named", "results", "more"),
    [
        ("collected-run-cut-off", "--resume", (), {"finish": False}),
        ("collected-of-another-suite", "generated ffff", (), {"digest": "ffff"}),
        ("collected-of-another-suite", "official", (), {"suite": "official"}),
        ("results-of-the-same-version", "mine 1.0", (), {}),
        ("results-of-the-same-version", "mine 1.0", (result(backend="mine==1.0"),),
         {"hellos": {"mine==1.0": {"runtime": "mine", "version": "1.0"}}}),
        *[
            ("results-without-answers", str(verdict), (result("even", verdict), result("uneven", verdict), REJECTED),
             {"hellos": {"mine": {"runtime": "mine", "version": "3.0"}}})
            for verdict in (Verdict.ADAPTER_ERROR, Verdict.CRASH, Verdict.REFUSED, Verdict.UNSUPPORTED)
        ],
        ("results-without-answers", "no results", (REJECTED,), {"hellos": {"mine": {"runtime": "mine"}}}),
    ],
)  # fmt: skip
def test_other_results_are_refused(
    problem: str, named: str, results: tuple[Result, ...], more: dict[str, Any], tmp_path: Path
) -> None:
    first = written(tmp_path / "first.ndjson")
    found = collected(tmp_path, first, written(tmp_path / "second.ndjson", *results, **more))
    assert [run.path.name for run in found.runs] == ["first.ndjson"]
    (reason,) = found.refused
    assert reason.id == problem, reason.labelled
    assert reason.text.startswith("second (")
    assert named in reason.text
    assert "\n" not in reason.text


def test_a_backend_with_one_answer_is_accepted(tmp_path: Path) -> None:
    few = written(tmp_path / "few.ndjson", result("even", Verdict.WRONG_VALUE), result("uneven", Verdict.CRASH))
    assert not collected(tmp_path, few).refused


@pytest.mark.parametrize(
    ("content", "problem"), [(b"no results\n", "header-missing"), (b"", "header-missing"), (None, "record-invalid")]
)
def test_a_damaged_file_is_refused_by_name(content: bytes | None, problem: str, tmp_path: Path) -> None:
    path = written(tmp_path / "damaged.ndjson")
    path.write_bytes(path.read_bytes().replace(b'"pass"', b'"perfect"') if content is None else content)
    (reason,) = collected(tmp_path, path).refused
    assert (reason.id, "the file" in reason.text, str(tmp_path / "collected") in reason.text) == (problem, True, False)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A list with a good source, and one of another suite."""
    written(tmp_path / "good.ndjson", digest=open_suite("generated").digest())
    written(tmp_path / "other.ndjson")
    listed = tmp_path / "sources.toml"
    listed.write_text(
        '[[source]]\nname = "good"\nresults = "good.ndjson"\n[[source]]\nname = "other"\nresults = "other.ndjson"\n'
    )
    return listed


def test_the_command_writes_the_site_of_the_accepted_sources(sources: Path, tmp_path: Path) -> None:
    done = command("site", "collect", sources, "--out", tmp_path / "site")
    assert (done.status, "1 of 2 sources" in done.out) == (1, True), done.text
    (line,) = (text for text in done.err.splitlines() if "refused: " in text)
    assert line.startswith("onnx-conformance: refused: other (")
    assert line.endswith("[collected-of-another-suite]")
    assert "mine" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


def test_the_command_ends_without_a_source(sources: Path, tmp_path: Path) -> None:
    (tmp_path / "good.ndjson").unlink()
    done = command("site", "collect", sources, "--out", tmp_path / "site")
    assert done.refused("no-source-left", "sources.toml"), done.text
    assert not (tmp_path / "site").exists()
    done = command("site", "collect", sources, "--out", tmp_path / "site", "--max-size", "0")
    assert done.status == 2, done.text


def test_a_size_above_the_limit_is_refused(sources: Path, tmp_path: Path) -> None:
    done = command("site", "collect", sources, "--out", tmp_path / "site", "--max-size", "10")
    assert done.refused("no-source-left"), done.text
    assert done.err.count("[results-too-large]") == 2, done.text


def test_files_are_still_the_arguments_of_site(sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = command("site", sources.with_name("good.ndjson"), "--out", tmp_path / "site")
    assert done.status == 0, done.text
    monkeypatch.chdir(tmp_path)
    (tmp_path / "collect").write_bytes((tmp_path / "good.ndjson").read_bytes())
    done = command("site", "./collect", "--out", tmp_path / "second")
    assert done.status == 0, done.text
