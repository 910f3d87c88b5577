# SPDX-License-Identifier: Apache-2.0
"""Folders that are damaged or made to do harm: each is reported in a sentence, and the others run.

ONNX_CONFORMANCE_ROUNDS says how many folders are changed at random; see tests/mutation.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
from typing import TYPE_CHECKING, Any

import onnx
import pytest
from google.protobuf.message import DecodeError

import mutation
from commands import command
from onnx_conformance.environments import backend_names
from onnx_conformance.generation import plans
from onnx_conformance.judging.ask import LiveAnswer, ask_and_judge
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.asker import Asker
from onnx_conformance.repro import bug_report as issues
from onnx_conformance.repro import script
from onnx_conformance.results.stream import Run
from onnx_conformance.specification import registry
from onnx_conformance.suites import onnx_layout
from onnx_conformance.suites.folder import Folder
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from commands import Done
    from onnx_conformance.case.case import Case

SEED, FEW = 20260, 24


def cases() -> Iterator[Case]:
    """Yield a few cases of every kind: tensors, strings, sequences, initializers, values drawn at random, refusals."""
    for name, version in (("Split", 18), ("SequenceInsert", 11), ("ReduceSum", 13), ("Dropout", 13), ("Constant", 13)):
        planned = plans.cases(registry.load().named(name), (version,))
        kinds: dict[tuple[Any, ...], Case] = {}
        for case in planned:
            kinds.setdefault((case.outcome, case.form == "plain" or "initializer" in case.form), case)
        yield from kinds.values()


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of good cases."""
    folder = tmp_path_factory.mktemp("good")
    for case in cases():
        onnx_layout.write(case, folder)
    return folder


# Changes


def regular(case: Path) -> list[Path]:
    """Return the files of a case that can be read here."""
    files = (path for path in sorted(case.rglob("*")) if path.is_file() and not path.is_symlink())
    return [path for path in files if path.stat().st_size < 1 << 20]


def _bytes_changed(rng: random.Random, case: Path) -> None:
    path = rng.choice(regular(case))
    path.write_bytes(mutation.changed_bytes(rng, path.read_bytes()))


def _model_changed(rng: random.Random, case: Path) -> None:
    path = case / "model.onnx"
    if path in regular(case):
        path.write_bytes(mutation.changed_bytes(rng, path.read_bytes()))


def _json_changed(rng: random.Random, case: Path) -> None:
    path = case / "case.json"
    if path in regular(case):
        with contextlib.suppress(ValueError, RecursionError):
            path.write_bytes(mutation.text(mutation.changed_json(rng, json.loads(path.read_bytes()))))


def _removed(rng: random.Random, case: Path) -> None:
    path = rng.choice(sorted(case.rglob("*")))
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def _replaced(rng: random.Random, case: Path) -> None:
    """Put a link, a folder, a pipe or a file without end in the place of a file."""
    path = rng.choice(regular(case))
    path.unlink()
    rng.choice(
        (
            lambda: path.symlink_to(path.name),
            lambda: path.symlink_to("/dev/zero"),
            lambda: path.symlink_to(".."),
            lambda: path.symlink_to("nowhere"),
            path.mkdir,
            lambda: os.mkfifo(path),
            lambda: _endless(path),
        )
    )()


def _endless(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 42)


def _swapped(rng: random.Random, case: Path) -> None:
    """Let two files of a case change their places."""
    first, second = rng.choices(regular(case), k=2)
    data = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(data)


def _field_changed(rng: random.Random, case: Path) -> None:
    """Change a field of the model to a value that its type allows."""
    path = case / "model.onnx"
    with contextlib.suppress(DecodeError):
        if path in regular(case):
            model = onnx.load_from_string(path.read_bytes())
            _change(rng, model)
            path.write_bytes(model.SerializeToString())


def _change(rng: random.Random, message: Any) -> None:
    fields = [(descriptor, value) for descriptor, value in message.ListFields()]
    if not fields:
        return
    descriptor, value = rng.choice(fields)
    many = not isinstance(value, int | float | str | bytes) and hasattr(value, "__len__")
    if descriptor.message_type is not None:
        inner = rng.choice(list(value)) if many else value
        if many and rng.random() < 0.2:
            value.add().CopyFrom(inner)
        elif many and rng.random() < 0.1:
            del value[:]
        else:
            _change(rng, inner)
        return
    kinds: dict[type, tuple[Any, ...]] = {
        int: (0, 1, -1, 2**31 - 1, 2**63 - 1, -(2**63), 99),
        float: (0.0, float("nan"), float("inf")),
        str: ("", "\0", "\x1b[31m", "a\n::error::b", "\u202egnp", "x" * 5000, '"""', "../x", "float"),
        bytes: (b"", b"\xff", bytes(7)),
    }
    kind = type(value[0] if many else value)
    new = rng.choice(kinds.get(kind, (value,)))
    try:
        if many:
            value[rng.randrange(len(value))] = new
        else:
            setattr(message, descriptor.name, new)
    except ValueError:  # Out of the range of a field of 32 bits.
        return


CHANGES: tuple[Callable[[random.Random, Path], None], ...] = (
    _bytes_changed, _model_changed, _model_changed, _field_changed, _field_changed, _json_changed, _removed, _replaced,
    _swapped,
)  # fmt: skip


def changed(good: Path, folder: Path, rounds: int, seed: int) -> None:
    """Fill a folder with the good cases, and with copies of them of which each was changed."""
    shutil.copytree(good, folder)
    names = sorted(path.name for path in good.iterdir())
    for index in range(rounds):
        rng = random.Random(f"{seed} {index}")
        case = folder / f"changed_{index}"
        shutil.copytree(good / rng.choice(names), case)
        for _ in range(rng.choice((1, 1, 2))):
            if regular(case):
                rng.choice(CHANGES)(rng, case)


def held(folder: Path, good: Path, out: Path) -> None:
    """Run every command on a folder: each ends with sentences, and good cases pass."""
    results = out / "results.ndjson"
    done = command("run", "--suite", folder, "--backend", "oracle", "--results", results, "--timeout", "5")
    ended_well(done)
    verdicts: dict[str, str] = {}
    unreadable: dict[str, str] = {}
    for text in results.read_text().splitlines():
        record = json.loads(text)
        if record["kind"] == "result":
            verdicts[record["case"]] = record["verdict"]
        elif record["kind"] == "unreadable":
            unreadable[record["case"]] = record["message"]
    for case in good.iterdir():
        assert verdicts.get(f"{folder.name}/{case.name}") in {"pass", "unspecified"}, case.name
    for message in unreadable.values():
        assert folder.name in message, message
        assert message in done.err or "more faults of this kind" in done.err, done.err
    for name in ("list", "generate"):
        ended_well(command(name, "--suite", folder, *(("--out", out / "again") if name == "generate" else ())))
    ended_well(command("report", results, "--folder", out / "reports"))
    report = json.loads((out / "reports" / "report.json").read_text())
    assert set(unreadable.values()) <= set(report["faults"])
    for case_id in sorted({*verdicts, *unreadable}):
        done = command("show", case_id, "--suite", folder)
        ended_well(done)
        assert (done.status == 2) == (case_id in unreadable), done.text


def ended_well(done: Done) -> None:
    assert done.status in {0, 1, 2}, done.text
    assert "fault of the harness" not in done.text, done.text
    assert not [text for text in done.text.splitlines() if text.startswith("::")], done.text


def scripts(folder: Path) -> None:
    """Write the script and the report of every case that can be read."""
    with Asker(backend_names.resolve("oracle"), Limits(timeout=5)) as lane:
        hello = {**lane.process.hello, "repro": "outputs = []\n"}
        for case in Folder(folder).cases(Selection()):
            result, outputs, _ = ask_and_judge(lane, case)
            text = script.script(case, result, hello)
            compile(text, case.id, "exec")
            issues.markdown(issues.Issue(case, result, LiveAnswer("oracle", hello, result, outputs)))


@pytest.mark.slow
@pytest.mark.usefixtures("ends")
def test_damaged_folders_are_reported_and_the_others_run(good: Path, tmp_path: Path) -> None:
    changed(good, tmp_path / "suite", mutation.rounds(FEW), SEED)
    held(tmp_path / "suite", good, tmp_path)
    scripts(tmp_path / "suite")


# What broke once


def _model(change: Callable[[onnx.ModelProto], object]) -> Callable[[Path], None]:
    def damage(case: Path) -> None:
        model = onnx.load_from_string((case / "model.onnx").read_bytes())
        change(model)
        (case / "model.onnx").write_bytes(model.SerializeToString())

    return damage


def _renamed(old: bytes, new: bytes) -> Callable[[Path], None]:
    """Put other bytes of the same length in the place of a name; protobuf itself refuses invalid UTF-8."""

    def damage(case: Path) -> None:
        data = (case / "model.onnx").read_bytes()
        assert old in data
        (case / "model.onnx").write_bytes(data.replace(old, new))

    return damage


def _external(location: str) -> Callable[[Path], None]:
    def add(model: onnx.ModelProto) -> None:
        tensor = model.graph.initializer.add(name="w", data_type=1, dims=[1], data_location=1)
        tensor.external_data.add(key="location", value=location)

    return _model(add)


def _external_pipe(case: Path) -> None:
    os.mkfifo(case / "pipe")
    _external("pipe")(case)


def _json(text: str) -> Callable[[Path], None]:
    return lambda case: (case / "case.json").write_text(text) and None


def _big(name: str) -> Callable[[Path], None]:
    return lambda case: _endless(case / name)


UNREADABLE: dict[str, tuple[Callable[[Path], None], str]] = {
    "a zero byte in a location": (_external("a\0b"), "cannot be read"),
    "a location without end": (_external("x" * 5000), "cannot be read"),
    "a location of many folders": (_external("x/" * 5000), "cannot be read"),
    "data in a pipe": (_external_pipe, "not a file"),
    "an output whose name is no UTF-8": (_renamed(b"outputs_0", b"outputs_\xff"), "is not UTF-8"),
    "a model without end": (_big("model.onnx"), "bytes; at most"),
    "an input without end": (_big("test_data_set_0/input_0.pb"), "bytes; at most"),
    "a tolerance beyond numbers": (_json('{"tolerance": {"rtol": 1' + "0" * 400 + "}}"), "expected a number"),
    "an interval of one number": (_json('{"tolerance": {"interval": [1]}}'), "expected two numbers"),
    "an interval upside down": (_json('{"tolerance": {"interval": [1, -1]}}'), "expected two numbers"),
    "sums without axes": (_json('{"tolerance": {"sums": {"axes": [], "output": 0}}}'), "expected the members axes"),
    "sums along one axis twice": (
        _json('{"tolerance": {"sums": {"axes": [0, 0], "output": 0}}}'), "expected the members axes",
    ),
    "sums within a text": (
        _json('{"tolerance": {"sums": {"axes": [0], "output": 0, "within": "1"}}}'), "within is '1'; expected a number",
    ),
    "sums along a missing axis": (
        _json('{"tolerance": {"sums": {"axes": [99], "output": 0, "total": 1, "within": 1}}}'), "that has these axes",
    ),
    "sums of a missing output": (
        _json('{"tolerance": {"sums": {"axes": [0], "output": 99, "total": 1, "within": 1}}}'), "that has these axes",
    ),
    "values drawn of a shape beyond numbers": (
        _json('{"drawn": {"0": {"type": "float", "shape": [1e400]}}}'), "drawn does not describe properties of outputs",
    ),
    "a shape that memory has no room for": (
        _json('{"drawn": {"0": {"type": "float", "shape": [1' + "0" * 15 + "]}}}"),
        "drawn does not describe properties of outputs",
    ),
}  # fmt: skip
READABLE: dict[str, Callable[[Path], None]] = {
    "a node whose name is no UTF-8": _model(lambda model: setattr(model.graph.node[0], "name", "named")),
    "a function without a body": _model(lambda model: model.functions.add(name="f", domain="ai.onnx")),
    "a type that does not exist": _model(
        lambda model: setattr(model.graph.value_info.add().type.tensor_type, "elem_type", 99)
    ),
    "a name that commands a terminal": _model(lambda model: setattr(model.graph, "name", "\x1b[2J\n::error::evil")),
    "clauses and tags that command": _json('{"clauses": ["a\\n::error::b\\u001b[2J"], "tags": ["\\n::error::c"]}'),
}


@pytest.fixture
def damaged(good: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A folder of three good cases and one to damage."""
    names = sorted(path for path in good.iterdir() if "Split__18__lengths" in path.name)[:1]
    names += sorted(path for path in good.iterdir() if "ReduceSum" in path.name)[:2]
    for path in names:
        shutil.copytree(path, tmp_path / "suite" / path.name)
    shutil.copytree(names[0], tmp_path / "suite" / "damaged")
    return tmp_path / "suite", tmp_path / "suite" / "damaged"


def beside(folder: Path, tmp_path: Path) -> Path:
    """Return a folder of the good cases alone."""
    copy = tmp_path / "good"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("damaged"))
    return copy


@pytest.mark.slow
@pytest.mark.usefixtures("ends")
@pytest.mark.parametrize("what", UNREADABLE)
def test_a_case_that_cannot_be_read_is_reported_by_every_command(
    what: str, damaged: tuple[Path, Path], tmp_path: Path
) -> None:
    folder, case = damaged
    others = beside(folder, tmp_path)
    damage, sentence = UNREADABLE[what]
    damage(case)
    held(folder, others, tmp_path)
    [item] = Run(tmp_path / "results.ndjson").unreadable
    assert item.case == "suite/damaged"
    assert sentence in item.message, item
    assert item.message.endswith("; repair the folder, or remove it from the suite"), item
    for name in ("repro", "minimize"):
        done = command(name, "suite/damaged", "--suite", folder, "--backend", "oracle")
        assert (done.status, sentence in done.err) == (2, True), done.text


@pytest.mark.slow
@pytest.mark.usefixtures("ends")
@pytest.mark.parametrize("what", READABLE)
def test_a_strange_case_that_can_be_read_is_shown(what: str, damaged: tuple[Path, Path], tmp_path: Path) -> None:
    folder, case = damaged
    others = beside(folder, tmp_path)
    READABLE[what](case)
    if "UTF-8" in what:
        _renamed(b"named", b"na\xffed")(case)
    held(folder, others, tmp_path)
    assert not Run(tmp_path / "results.ndjson").unreadable
    for kind in ("python", "markdown"):
        ended_well(command("repro", "suite/damaged", "--suite", folder, "--backend", "oracle", "--format", kind))
    scripts(folder)


@pytest.mark.slow
def test_a_damaged_data_set_costs_no_other_of_its_folder(damaged: tuple[Path, Path]) -> None:
    folder, case = damaged
    for index in (1, 2):
        shutil.copytree(case / "test_data_set_0", case / f"test_data_set_{index}")
    (case / "test_data_set_1" / "input_0.pb").write_bytes(b"damaged")
    suite = Folder(folder)
    ids = [item.id for item in suite.cases(Selection())]
    assert [item.case for item in suite.unreadable] == ["suite/damaged/test_data_set_1"]
    assert {"suite/damaged", "suite/damaged/test_data_set_2"} <= set(ids)


@pytest.mark.slow
def test_cases_outside_the_selection_may_be_unreadable(damaged: tuple[Path, Path]) -> None:
    folder, case = damaged
    (case / "model.onnx").write_bytes(b"damaged")
    good = next(path.name for path in folder.iterdir() if path.name != "damaged")
    done = command("run", "--suite", folder, "--backend", "oracle", "--case", f"suite/{good}")
    assert done.status == 0, done.text
    shards = [command("list", "--suite", folder, "--shard", f"{index}/2").status for index in (1, 2)]
    assert sorted(shards) == [0, 2], "it is of one shard, as every case"


@pytest.mark.slow
def test_the_gate_stays_closed_where_a_case_could_not_be_read(damaged: tuple[Path, Path], tmp_path: Path) -> None:
    folder, case = damaged
    results, expected = tmp_path / "results.ndjson", tmp_path / "expected.toml"
    expected.write_text(f'backend = "oracle"\nsuite = "{folder}"\n')
    words = ("run", "--suite", folder, "--backend", "oracle", "--results", results)
    assert command(*words).status == 0
    assert command("gate", results, "--expectations", expected).status == 0
    (case / "model.onnx").write_bytes(b"damaged")
    assert command(*words, "--overwrite").status == 2
    done = command("gate", results, "--expectations", expected)
    assert done.status == 1, done.text
    assert "1 case of the suite could not be read, the first: " in done.text, done.text


@pytest.mark.slow
def test_resumed_and_sharded_runs_report_an_unreadable_case_once(damaged: tuple[Path, Path], tmp_path: Path) -> None:
    folder, case = damaged
    (case / "model.onnx").write_bytes(b"damaged")
    results = tmp_path / "results.ndjson"
    words = ("run", "--suite", folder, "--backend", "oracle", "--results")
    assert command(*words, results).status == 2
    lines = results.read_text().splitlines(keepends=True)
    results.write_text("".join(text for text in lines if '"kind":"footer"' not in text))
    assert command(*words, results, "--resume").status == 2
    assert len(Run(results).unreadable) == results.read_text().count('"kind":"unreadable"') == 1
    parts = [tmp_path / f"{index}.ndjson" for index in (1, 2)]
    for index, path in enumerate(parts, 1):
        command(*words, path, "--shard", f"{index}/2")
    assert command("merge", *parts, "--out", tmp_path / "both.ndjson").status == 0
    assert Run(tmp_path / "both.ndjson").unreadable == Run(results).unreadable
