# SPDX-License-Identifier: Apache-2.0
"""Results files that somebody or something changed: every command that reads one ends with a status and a sentence."""

from __future__ import annotations

import json
import random
import resource
import signal
from typing import TYPE_CHECKING, Any

import pytest

import mutation
from commands import command
from conftest import HANGS
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.cli import execution, reports
from onnx_conformance.report import ep_conformance, report_data
from onnx_conformance.report.formats import FORMATS
from onnx_conformance.results.stream import Run, header, to_record
from runs import SPLIT, result

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("ends", "few_operators")

MOST_MEMORY = 256 << 20
"""Bytes that the process may grow by over a whole test; a file here has a few thousand."""

MISMATCH = {
    "where": "outputs[0]", "expected": "1.0", "actual": "2.0", "differing": 1, "total": 4, "first": [0, 1],
    "worst": [0, 1], "absolute": 1.0, "relative": 1.0, "ulp": 8388608, "shape": [2, 2], "differs": [1], "start": 0,
    "wanted": ["1.0", "1.0"], "given": ["1.0", "2.0"],
}  # fmt: skip
PROFILE = {
    "provider": {"name": "MyEP", "onnxruntime": "1.32.0", "registration": "dynamic", "device": "GPU"},
    "profile": "0123abcd",
    "exclusions": [{"case": [f"{SPLIT}/x*", f"{SPLIT}/y"], "reason": "no padding", "issue": "https://example.org"}],
    "overrides": [{"operator": "Split", "type": ["float"], "rtol": 0.001, "atol": 0.1, "ulp": 2, "reason": "10 bits"}],
}
BACKENDS = ("onnxruntime==1.20.1", "onnxruntime==1.31.1", "mine")


def good() -> list[dict[str, Any]]:
    """Return the records of a run of three backends, with every member that the schema has."""
    info = {"runtime": "onnxruntime", "python": "3.11.7", "node": "20.1.0", "repro": "outputs = 1\n", **PROFILE}
    hellos = {name: {**info, "version": f"1.{index}"} for index, name in enumerate(BACKENDS)}
    arguments = {
        "selection": "--op Split --shard 1/1", "samples": {"mine": 2}, "reference": "", "repeat": 1, "jobs": 2,
        "timeout": 20.0, "memory": None,
    }  # fmt: skip
    first = header({"name": "generated", "digest": "0123abcd"}, hellos, arguments)
    attempts = ({"process": "first", "verdict": "crash", "actual": "1"}, {"process": "fresh", "verdict": "pass"})
    results = []
    for backend in BACKENDS:
        results += [
            result("lengths", backend=backend, seconds=0.5, ulps={"outputs[0]": [[3, -2], [0, 1]]}, tags=("basic",)),
            result("lengths/float16", Verdict.WRONG_VALUE, backend=backend, mismatch=MISMATCH, clauses=("One.", "Two."),
                   expected="float16[2,2] 1 1", actual="float16[2,2] 1 2", operator=f"{SPLIT[:-2]}13", seconds=1.0),
            result("uneven@top", Verdict.CRASH, backend=backend, signal="SIGSEGV", stderr="the last", form="top"),
            result("even", Verdict.FLAKY, backend=backend, attempts=attempts, message="first: crash"),
            result("x", Verdict.CRASH, backend=backend, excluded="no padding"),
            result("near", backend=backend, override="Split (float), rtol 0.001: 10 bits"),
            result("none", Verdict.REFUSED, backend=backend, error="Fail", message="no 'x' of 12", outcome="rejects"),
        ]  # fmt: skip
    footer = {
        "kind": "footer", "counts": {name: {"pass": 1, "crash": 1} for name in BACKENDS}, "faults": ["a fault"],
        "finished": "2026-11-22T12:00:00+00:00", "seconds": 2.5, "busy": {"mine": 1.5},
        "cpu": {"harness": 1.0, "adapters": 2.0},
    }  # fmt: skip
    return [first, *json.loads(json.dumps([to_record(item) for item in results])), footer]


EXPECTATIONS = """backend = "mine"
suite = "generated"
selection = "--op Split --shard 1/1 --sample 1/2"

[[expect]]
case = "*"
verdict = "crash"
reason = "known"
"""


def commands_on(path: Path, folder: Path) -> dict[str, Sequence[str | Path]]:
    """Return every command that reads a results file, with words that have it read this one."""
    expected, new, other, out = folder / "e.toml", folder / "new.toml", folder / "other.ndjson", folder / "out"
    known, accepted = ["--expectations", expected], ["--accept-new", "--reason", "x"]
    return {
        **{f"report {name}": ["report", path, "--format", name, *known, "--out", out] for name in FORMATS},
        "report": ["report", path],
        "report html of two": ["report", path, other, "--format", "html", "--out", out],
        "gate": ["gate", path, *known],
        "update": ["expectations", "update", path, "--expectations", new, "--backend", "mine", *accepted],
        "merge": ["merge", path, other, "--out", folder / "merged.ndjson", "--overwrite"],
        "claims": ["claims", path, "--backend", "mine"],
        "compare": ["compare", path, other],
        "compare with it": ["compare", other, path],
        "explain": ["explain", path],
        "dissent": ["dissent", path, "--enough", "2"],
        "trend": ["trend", path],
        "publish": ["publish", path, "--folder", folder / "published"],
        "resume": ["run", "--backend", "mine", "--op", "Split", "--results", path, "--resume"],
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "e.toml").write_text(EXPECTATIONS)
    (tmp_path / "other.ndjson").write_bytes(b"".join(mutation.text(record) + b"\n" for record in good()))
    for module in (execution, reports):
        monkeypatch.setattr(module, "reference_answers", lambda *_: {})  # A process for each report.
    return tmp_path


def read(data: bytes, folder: Path, name: str) -> int:
    """Let a command read a file; return its status. `command` holds that there is no traceback."""
    path = folder / "results.ndjson"
    path.write_bytes(data)
    signal.alarm(HANGS)  # For each file anew: how many there are is for the environment to say.
    (folder / "new.toml").unlink(missing_ok=True)
    done = command(*commands_on(path, folder)[name])
    assert done.status in {0, 1, 2}, done.text
    assert "fault of the harness" not in done.err, done.text
    assert done.status != 2 or done.err.startswith(("onnx-conformance: ", "Usage: ")), done.text
    assert len(done.err) < 20_000, f"{len(done.err)} characters"
    return done.status


def changed(rng: random.Random) -> bytes:
    """Return a results file of which one or two records were changed, or its bytes."""
    records = good()
    lines = [mutation.text(record) for record in records]
    if rng.random() < 0.2:
        return mutation.changed_bytes(rng, b"\n".join(lines) + b"\n")
    for _ in range(rng.randint(1, 2)):
        place = rng.choice((0, 0, len(lines) - 1, rng.randrange(len(lines))))
        lines[place] = mutation.text(mutation.changed_json(rng, records[place]))
    return b"\n".join(lines) + b"\n"


def memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


@pytest.mark.slow
def test_a_good_file_is_read_by_every_command(folder: Path) -> None:
    data = (folder / "other.ndjson").read_bytes()
    refused = {name for name in commands_on(folder, folder) if read(data, folder, name) == 2}
    assert refused == {"resume"}, "its other arguments are none of the file's"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_mutated_file_is_read_or_refused_with_a_sentence(seed: int, folder: Path) -> None:
    rng, before = random.Random(seed), memory()
    names = list(commands_on(folder, folder))
    statuses = set()
    for _ in range(mutation.rounds(80)):
        name = rng.choice(names)
        statuses.add(read(changed(rng), folder, name))
    # Which commands are drawn depends on the number of formats, and only some can return 1.
    assert {0, 2} <= statuses, "nothing was read, or nothing refused"
    assert memory() - before < MOST_MEMORY


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_mutated_report_of_providers_is_read_or_refused_with_a_sentence(seed: int, folder: Path) -> None:
    rng = random.Random(seed)
    report = json.loads("".join(ep_conformance.report(report_data.read(Run(folder / "other.ndjson")))))
    names = ["compare", "report json", "report ep-conformance", "gate", "explain"]
    statuses = {read(mutation.text(report), folder, name) for name in names}
    assert 2 not in statuses
    for _ in range(mutation.rounds(40)):
        data = mutation.text(mutation.changed_json(rng, report))
        if rng.random() < 0.2:
            data = mutation.changed_bytes(rng, data)
        statuses.add(read(data, folder, rng.choice(names)))
    assert 2 in statuses


# What broke a command once: by what it is, the record and the member that is another one, and what it is.

GONE = object()
BROKE: dict[str, tuple[int, tuple[str, ...], Any]] = {
    "a suite without a name": (0, ("suite", "name"), GONE),
    "a suite without a digest": (0, ("suite", "digest"), GONE),
    "a suite whose name is too long": (0, ("suite", "name"), "x" * 100_000),
    "a suite whose name is a list": (0, ("suite", "name"), [1]),
    "a digest that is no text": (0, ("suite", "digest"), "\ud800"),
    "a machine that is a number": (0, ("machine",), 2),
    "a machine without a processor": (0, ("machine", "processor"), GONE),
    "no version of numpy": (0, ("numpy",), GONE),
    "a backend that is a number": (0, ("backends", "mine"), 7),
    "a version that is a list": (0, ("backends", "mine", "version"), []),
    "a version beyond counting": (0, ("backends", "mine", "version"), "9" * 5000),
    "a selection that is a number": (0, ("arguments", "selection"), 2**63),
    "a selection of many shards": (0, ("arguments", "selection"), "--shard 1/400000000"),
    "a selection of a shard beyond counting": (0, ("arguments", "selection"), f"--shard 1/{'9' * 5000}"),
    "a sample that is a list": (0, ("arguments", "samples", "mine"), [[]]),
    "a start that is a number": (0, ("started",), 0.5),
    "a backend of nobody": (1, ("backend",), "nobody"),
    "an operator that is a number": (1, ("operator",), 3),
    "an operator that is a list": (1, ("operator",), [None]),
    "a version of an operator beyond counting": (1, ("operator",), f"ai.onnx/Split/{'9' * 5000}"),
    "a form that is an object": (1, ("form",), {"": None}),
    "a clause that is an object": (2, ("clauses",), [{}]),
    "a tag that is a list": (1, ("tags",), [[]]),
    "a message that is a number": (5, ("message",), 1.5),
    "an answer that is a number": (2, ("actual",), 12),
    "a place that is an object": (2, ("mismatch", "where"), {}),
    "elements that are a number": (2, ("mismatch", "given"), 3),
    "an element that is far away": (2, ("mismatch", "differs"), [2**62]),
    "a shape of much": (2, ("mismatch", "shape"), [2**31, 2**31]),
    "a distance of one number": (1, ("ulps", "outputs[0]"), [[1]]),
    "a distance of three numbers": (1, ("ulps", "outputs[0]"), [[1, 2, 3]]),
    "seconds beyond a float": (1, ("seconds",), 10**400),
    "seconds that are no number": (1, ("seconds",), mutation.Literal("NaN")),
    "an attempt that is a number": (4, ("attempts",), [3]),
    "an attempt of no verdict": (4, ("attempts",), [{"process": "first"}]),
    "faults that are a number": (-1, ("faults",), 4),
    "seconds of a run that are none": (-1, ("seconds",), None),
    "a case of half a character": (1, ("case",), "ai.onnx/Split/18/\udfff"),
    "a case without end": (1, ("case",), "x" * 1_000_000),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", BROKE)
def test_streams_that_once_broke_a_command_break_none(what: str, folder: Path) -> None:
    place, path, value = BROKE[what]
    records = good()
    holder: Any = records[place]
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    if value is GONE:
        del holder[path[-1]]
    data = b"".join(mutation.text(record) + b"\n" for record in records)
    before = memory()
    for name in commands_on(folder, folder):
        read(data, folder, name)
    assert memory() - before < MOST_MEMORY


LONG = ("x" * 5000, f"mine=={'9' * 5000}", f"mine[{'x' * 5000}]", f"cmd:{'x' * 5000}")


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG, ids=("name", "version", "option", "command"))
def test_a_long_name_of_a_backend_breaks_no_command(name: str, folder: Path) -> None:
    data = b"".join(mutation.text(record) + b"\n" for record in good()).replace(b'"mine"', mutation.text(name))
    (folder / "other.ndjson").write_bytes(data)
    for command_name in commands_on(folder, folder):
        read(data, folder, command_name)
