# SPDX-License-Identifier: Apache-2.0
"""`onnx-conformance run` from the outside: exit statuses, bad input, results that were cut off."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx
import pytest

from commands import WRONG, Done, adapter, command
from onnx_conformance.processes import adapter_process

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("ends", "few_operators")

SPLIT = "ai.onnx/Split/13"
NAMES = ("lengths", "lengths_equal", "lengths_one", "lengths_all", "lengths_sum", "even", "even_columns", "even_one")
FAULTY = f"{SPLIT}/lengths_sum"
CASES = [word for name in NAMES for word in ("--case", f"{SPLIT}/{name}")]


def run(*words: str | Path, kind: str = "good", cases: list[str] = CASES) -> Done:
    return command("run", "--backend", adapter(kind), *cases, *words)


def failed_with(done: Done, *parts: str) -> None:
    """Assert that a command failed with one line that contains these parts."""
    lines = done.err.strip().splitlines()
    assert done.status == 2, done.text
    assert lines, done.text
    said = [line for line in lines if line.startswith(("onnx-conformance: ", "Error: "))]
    assert len([line for line in said if "onnx-conformance: note: " not in line]) == 1, done.text
    for part in parts:
        assert part in lines[-1], f"{part!r} is not in {lines[-1]!r}"


def records(path: Path) -> list[dict[str, Any]]:
    """Return the records of a results file; NaN is no JSON."""

    def refuse(word: str) -> Any:
        raise AssertionError(f"{path} holds {word}")

    text = path.read_bytes().decode("utf-8")
    return [json.loads(line, parse_constant=refuse) for line in text.splitlines()]


def results(path: Path) -> dict[tuple[str, str], tuple[str, str, str]]:
    """Return what a file says of each case and backend, without times."""
    measured = [record for record in records(path) if record["kind"] == "result"]
    named = {
        (item["backend"], item["case"]): (item["verdict"], item.get("message", ""), item.get("signal", ""))
        for item in measured
    }
    assert len(named) == len(measured), f"{path} has two results for one case and backend"
    return named


# Exit status

STATUS = {
    "good": 0,
    "gives_nan_bytes": 1,
    "dies_by_segv": 1,
    "refuses_with_hostile_words": 1,
    "prints_a_line": 2,
    "closes_its_output": 2,
    "answers_the_next_first": 2,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", STATUS)
def test_the_exit_status_is_1_for_a_runtime_and_2_for_an_adapter(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter_process, "EXIT_SECONDS", 1.0)  # One that closes its output does not exit.
    file = tmp_path / "results.ndjson"
    done = run("--results", file, kind=kind)
    assert done.status == STATUS[kind], done.text
    verdicts = {case: record[0] for (_, case), record in results(file).items()}
    assert len(verdicts) == len(NAMES), verdicts
    others = {verdict for case, verdict in verdicts.items() if case != FAULTY}
    assert others == {"pass"}, verdicts
    assert (verdicts[FAULTY] == "pass") is (kind == "good"), verdicts
    assert records(file)[-1]["kind"] == "footer", records(file)[-1]
    if STATUS[kind] == 2:
        assert f"onnx-conformance: {FAULTY}: {adapter(kind)}" in done.err, done.text


def test_a_hostile_version_is_escaped_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "results.ndjson"
    done = run("--results", file, kind="has_a_hostile_version")
    assert done.status == 0, done.text
    (info,) = records(file)[0]["backends"].values()
    assert all(isinstance(value, str) and value.isprintable() for value in info.values() if "\n" not in value), info
    assert "\x1b" not in json.dumps(info, ensure_ascii=False), info


# What is named and is not there

UNKNOWN = {
    "operator": (["--op", "Spilt"], ["--op 'Spilt'", "did you mean Split"]),
    "version": (["--op", "Split/99"], ["--op 'Split/99'", "1, 2, 11, 13, 18"]),
    "case": (["--case", "ai.onnx/Split/13/nothing"], ["--case 'ai.onnx/Split/13/nothing'", "matches no case"]),
    "tag": (["--tag", "nothing"], ["--tag 'nothing'", "matches no case"]),
    "nothing in common": (["--op", "Split/13", "--case", "ai.onnx/Split/18/*"], ["ai.onnx/Split/18/*"]),
    "backend": (["--backend", "onnxruntim"], ["'onnxruntim'", "did you mean onnxruntime?", "cmd:COMMAND"]),
    "reference": (["--reference", "nobody"], ["'nobody'", "oracle"]),
    "command": (["--backend", "cmd:"], ["'cmd:' names no command", "write cmd:"]),
    "quotes": (["--backend", "cmd:'x"], ["No closing quotation"]),
    "suite": (["--suite", "nowhere"], ["suite nowhere does not exist", "generated, official, or a folder"]),
    "shard 0/3": (["--shard", "0/3"], ["'0/3' is not a shard", "such as 1/4"]),
    "shard 4/3": (["--shard", "4/3"], ["'4/3' is not a shard", "such as 1/4"]),
    "shard x": (["--shard", "x"], ["'x' is not a shard", "such as 1/4"]),
    "memory": (["--memory", "much"], ["'much' is not a size", "such as 4G"]),
    "resume what": (["--resume"], ["--resume needs --results FILE"]),
}


def test_an_empty_shard_of_a_selection_is_no_fault() -> None:
    done = run("--case", FAULTY, "--shard", "1/1000003")
    assert done.status == 0, done.text


@pytest.mark.slow
@pytest.mark.parametrize("what", UNKNOWN)
def test_unknown_names_are_reported_with_the_known_ones(what: str) -> None:
    words, parts = UNKNOWN[what]
    backend = [] if "--backend" in words else ["--backend", adapter("good")]
    failed_with(command("run", *backend, *words), *parts)


@pytest.mark.slow
def test_a_glob_that_matches_nothing_is_reported_beside_the_results() -> None:
    done = run("--case", "ai.onnx/Split/13/nothing", cases=["--case", f"{SPLIT}/even"])
    failed_with(done, "--case 'ai.onnx/Split/13/nothing' matches no case of suite generated")
    assert "1 of the 1 attempted" in done.out, done.text


STARTS = {
    "dies_at_start": "libruntime.so.1: cannot open",
    "prints_before_hello": "Welcome to the runtime",
    "speaks_another_protocol": "it uses wire format 99",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", STARTS)
def test_a_backend_that_does_not_start_costs_no_earlier_result(kind: str, whole: Path, tmp_path: Path) -> None:
    file = tmp_path / "results.ndjson"
    shutil.copy(whole, file)
    done = run("--results", file, "--overwrite", kind=kind)
    failed_with(done, adapter(kind), STARTS[kind])
    assert file.read_bytes() == whole.read_bytes(), "the results of the earlier run are lost"


def test_a_backend_that_cannot_be_imported_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "results.ndjson"
    done = command("run", "--backend", "no_such_runtime.backend", *CASES, "--results", file)
    failed_with(done, "no_such_runtime.backend", "cannot import", "is it installed in")
    assert not file.exists(), file.read_text()


# A folder in ONNX's layout


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stored") / "suite"
    words = [word for name in ("lengths", "lengths_sum", "even") for word in ("--case", f"{SPLIT}/{name}")]
    done = command("generate", "--out", folder, *words)
    assert done.status == 0, done.text
    return folder


@pytest.fixture
def suite(stored: Path, tmp_path: Path) -> Path:
    """A folder of three cases; a test damages the one called `faulty`."""
    return Path(shutil.copytree(stored, tmp_path / "suite"))


def faulty(suite: Path) -> Path:
    (folder_,) = suite.glob("*lengths_sum")
    return folder_


def folder(suite: Path, *words: str | Path, kind: str = "good") -> Done:
    return command("run", "--backend", adapter(kind), "--suite", suite, *words)


@pytest.mark.slow
def test_a_folder_gives_the_verdicts_of_its_cases(suite: Path) -> None:
    right, wrong = folder(suite), folder(suite, kind="gives_nan_bytes")
    assert (right.status, wrong.status) == (0, 1), right.text + wrong.text
    assert "3 of the 3 attempted" in right.out, right.text
    assert "2 of the 3 attempted" in wrong.out, wrong.text


def test_a_suite_that_is_no_folder_of_cases_is_reported(tmp_path: Path) -> None:
    empty, file = tmp_path / "empty", tmp_path / "file"
    empty.mkdir()
    file.touch()
    failed_with(folder(empty), str(empty), "contains no cases", "CASE/model.onnx")
    failed_with(folder(file), str(file), "is not a folder")
    failed_with(folder(tmp_path / "missing"), str(tmp_path / "missing"), "does not exist")


def _truncated(case: Path) -> None:
    model = case / "model.onnx"
    model.write_bytes(model.read_bytes()[:-7])


def _without_graph(case: Path) -> None:
    (case / "model.onnx").write_bytes(b"")


def _nested(case: Path) -> None:
    """Write graphs in attributes in nodes in graphs, some thousand levels deep; onnx will not write such a model."""
    data = b""
    for _ in range(3000):
        for field in (b"\x32", b"\x2a", b"\x0a"):  # AttributeProto.g, NodeProto.attribute, GraphProto.node
            data = field + _varint(len(data)) + data
    (case / "model.onnx").write_bytes(b"\x3a" + _varint(len(data)) + data)


def _varint(number: int) -> bytes:
    text = b""
    while number >= 0x80:
        text += bytes([number & 0x7F | 0x80])
        number >>= 7
    return text + bytes([number])


def _input(data: bytes) -> Callable[[Path], None]:
    def damage(case: Path) -> None:
        (case / "test_data_set_0" / "input_0.pb").write_bytes(data)

    return damage


def _tensor(**fields: Any) -> Callable[[Path], None]:
    return _input(onnx.TensorProto(**fields).SerializeToString())


def _link(name: str, target: str) -> Callable[[Path], None]:
    def damage(case: Path) -> None:
        (case / name).unlink()
        (case / name).symlink_to(target)

    return damage


def _folder_link(case: Path) -> None:
    outside = case.parents[1] / "outside"
    shutil.move(case, outside)
    case.symlink_to(outside)


def _external(location: str, **more: str) -> Callable[[Path], None]:
    def damage(case: Path) -> None:
        (case.parents[1] / "x").write_bytes(bytes(64))  # It is there, so only the refusal keeps it from being read.
        (case / "inside").write_bytes(bytes(4))
        model = onnx.load(case / "model.onnx")
        tensor = model.graph.initializer.add(name="w", data_type=1, dims=[1], data_location=1)
        for key, value in {"location": location, **more}.items():
            tensor.external_data.add(key=key, value=value)
        (case / "model.onnx").write_bytes(model.SerializeToString())

    return damage


def _json(name: str, text: str) -> Callable[[Path], None]:
    return lambda case: (case / name).write_text(text) and None


def _removed(name: str) -> Callable[[Path], None]:
    def damage(case: Path) -> None:
        path = case / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return damage


INPUT, MODEL = "test_data_set_0/input_0.pb", "model.onnx"
DAMAGES: dict[str, tuple[Callable[[Path], None], list[str]]] = {
    "truncated model": (_truncated, [MODEL, "not a whole ONNX model"]),
    "model without a graph": (_without_graph, [MODEL, "it has no graph"]),
    "model nested deeply": (_nested, [MODEL, "not a whole ONNX model"]),
    "garbage": (_input(b"\xff" * 100), [INPUT, "not a whole TensorProto"]),
    "empty tensor": (_input(b""), [INPUT, "not a whole TensorProto"]),
    "huge dims": (_tensor(data_type=1, dims=[1 << 40, 1 << 20]), [INPUT, "not a whole TensorProto"]),
    "huger dims": (_tensor(data_type=1, dims=[1 << 62, 1 << 62]), [INPUT, "not a whole TensorProto"]),
    "unknown type": (_tensor(data_type=99, dims=[1], raw_data=bytes(4)), [INPUT, "99"]),
    "tensor kept elsewhere": (_tensor(data_type=1, dims=[1], data_location=1), [INPUT, "is in another file"]),
    "input linked outside": (_link(INPUT, "/etc/passwd"), [INPUT, "points outside the suite's folder"]),
    "endless input": (_link(INPUT, "/dev/zero"), [INPUT, "points outside the suite's folder"]),
    "model linked outside": (_link(MODEL, "/etc/passwd"), [MODEL, "points outside the suite's folder"]),
    "folder linked outside": (_folder_link, [MODEL, "points outside the suite's folder"]),
    "data outside": (_external("../../x"), ["../../x", "points outside the suite's folder"]),
    "data at an absolute path": (_external("/etc/passwd"), ["/etc/passwd", "points outside the suite's folder"]),
    "data missing": (_external("nowhere"), ["nowhere", "tensor 'w' cannot be read"]),
    "data too short": (_external("inside", length="9999999999"), ["inside", "tensor 'w' cannot be read"]),
    "data before its file": (_external("inside", offset="-5"), ["inside", "tensor 'w' cannot be read"]),
    "case.json cut off": (_json("case.json", "{"), ["case.json", "not JSON"]),
    "case.json nested": (_json("case.json", "[" * 100_000), ["case.json", "not JSON"]),
    "case.json a list": (_json("case.json", "[]"), ["case.json", "expected a JSON object"]),
    "outcome unknown": (_json("case.json", '{"outcome": "maybe"}'), ["outcome 'maybe'", "rejects"]),
    "no data set": (_removed("test_data_set_0"), ["there is no test_data_set_0"]),
    "an input missing": (_removed(INPUT), ["1 files input_*.pb", "2 inputs"]),
    "tolerance a list": (_json("case.json", '{"tolerance": []}'), ["case.json", "tolerance"]),
    "clauses a number": (_json("case.json", '{"clauses": 5}'), ["case.json", "clauses"]),
    "tags of lists": (_json("case.json", '{"tags": [[1]]}'), ["case.json", "tags"]),
    "operator a number": (_json("case.json", '{"operator": 5}'), ["case.json", "operator"]),
    "notes a number": (_json("case.json", '{"notes": 7}'), ["case.json", "notes"]),
    "an input linked to itself": (_link(INPUT, "input_0.pb"), [INPUT]),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_case_is_named_and_the_others_are_run(what: str, suite: Path) -> None:
    damage, parts = DAMAGES[what]
    damage(faulty(suite))
    done = folder(suite)
    failed_with(done, *parts)
    assert "2 of the 2 attempted" in done.out, done.text


def test_data_that_lies_in_the_suite_is_read(suite: Path) -> None:
    _external("inside")(faulty(suite))
    done = folder(suite)
    assert done.status == 0, done.text
    assert "3 of the 3 attempted" in done.out, done.text


# Another backend's answers as the expected ones


@pytest.mark.slow
def test_a_folder_without_outputs_has_a_reference(suite: Path) -> None:
    for path in suite.glob("*/test_data_set_0/output_*.pb"):
        path.unlink()
    oracle = folder(suite)
    assert oracle.status == 0, oracle.text
    assert "3 cases contain no expected outputs; those of the oracle are used" in oracle.out, oracle.text
    assert folder(suite, kind="gives_nan_bytes").status == 1
    named = folder(suite, "--reference", "oracle")
    assert named.status == 0, named.text
    right = folder(suite, "--reference", "onnx_reference")
    assert right.status == 0, right.text
    assert "3 of the 3 attempted" in right.out, right.text
    wrong = folder(suite, "--reference", "onnx_reference", kind="gives_nan_bytes")
    assert wrong.status == 1, wrong.text
    assert "2 of the 3 attempted" in wrong.out, wrong.text


@pytest.mark.slow
def test_a_reference_overrules_what_the_suite_expects(tmp_path: Path) -> None:
    """The reference is wrong at one case, so a right answer there differs from it."""
    file = tmp_path / "results.ndjson"
    done = run("--reference", adapter("gives_nan_bytes"), "--results", file)
    assert done.status == 1, done.text
    measured = results(file)
    assert measured[adapter("good"), FAULTY][0] == "wrong_value", measured
    assert {backend for backend, _ in measured} == {adapter("good")}, "the reference itself has results"


@pytest.mark.slow
def test_where_the_reference_gives_no_answer_nothing_is_specified(tmp_path: Path) -> None:
    file = tmp_path / "results.ndjson"
    done = run("--reference", adapter("dies_by_segv"), "--results", file)
    assert done.status == 0, done.text
    verdicts = {case: record[0] for (_, case), record in results(file).items()}
    assert verdicts.pop(FAULTY) == "unspecified", verdicts
    assert set(verdicts.values()) == {"pass"}, verdicts


# Several at once


@pytest.mark.slow
def test_several_backends_in_one_run_have_a_row_each(tmp_path: Path) -> None:
    file, kinds = tmp_path / "results.ndjson", ("good", "dies_by_abrt", "gives_an_output_less", "good")
    done = command("run", *(word for kind in kinds for word in ("--backend", adapter(kind))), *CASES, "--results", file)
    assert done.status == 1, done.text
    measured = results(file)
    assert len(measured) == 3 * len(NAMES), f"{len(measured)} results; a backend named twice is run once"
    verdicts = {kind: measured[adapter(kind), FAULTY] for kind in kinds}
    assert verdicts["good"][0] == "pass", verdicts
    assert (verdicts["dies_by_abrt"][0], verdicts["dies_by_abrt"][2]) == ("crash", "SIGABRT"), verdicts
    assert verdicts["gives_an_output_less"][0] == "wrong_count", verdicts
    durations = " ".join(done.out.split()).partition("duration of the cases: ")[2].partition(" Coverage")[0]
    for kind in set(kinds):
        assert f" {kind} " in durations, done.text


@pytest.mark.slow
def test_two_jobs_or_two_shards_give_the_results_of_one(whole: Path, tmp_path: Path) -> None:
    twice = tmp_path / "jobs.ndjson"
    assert run("--jobs", "2", "--results", twice, kind="dies_by_segv").status == 1
    assert results(twice) == results(whole)
    parts: list[dict[tuple[str, str], Any]] = []
    for i in (1, 2):
        file = tmp_path / f"shard{i}.ndjson"
        done = run("--shard", f"{i}/2", "--results", file, kind="dies_by_segv")
        assert done.status in {0, 1}, done.text
        parts.append(results(file))
    assert sum(map(len, parts)) == len(NAMES), parts
    assert {key: value for part in parts for key, value in part.items()} == results(whole)


# Limits


@pytest.mark.slow
def test_a_budget_ends_one_backend_and_the_run_goes_on_from_there(tmp_path: Path) -> None:
    file, dying = tmp_path / "results.ndjson", adapter("dies_on_every_case")
    words = ["run", "--backend", dying, "--backend", adapter("good"), *CASES, "--results", file]
    done = command(*words, "--restarts", "2")
    assert done.status == 2, done.text
    assert f"onnx-conformance: {dying}: " in done.err, done.text
    assert "--restarts" in done.err, done.text
    before = results(file)
    assert sum(backend == adapter("good") for backend, _ in before) == len(NAMES), before
    assert sum(backend == dying for backend, _ in before) == 3, before
    after = command(*words, "--resume")
    assert after.status == 1, after.text
    measured = results(file)
    assert {key: measured.get(key) for key in before} == before, "what was measured is lost"
    assert len(measured) == 2 * len(NAMES), measured


@pytest.mark.slow
def test_a_deadline_and_a_memory_limit_are_verdicts(tmp_path: Path) -> None:
    late, large = tmp_path / "late.ndjson", tmp_path / "large.ndjson"
    assert run("--timeout", "0.5", "--results", late, kind="hangs").status == 1
    assert results(late)[adapter("hangs"), FAULTY][0] == "timeout", results(late)
    assert run("--memory", "512M", "--results", large, kind="allocates").status == 1
    assert results(large)[adapter("allocates"), FAULTY][0] == "refused", results(large)
    for measured in (results(late), results(large)):
        others = {value[0] for (_, case), value in measured.items() if case != FAULTY}
        assert (others, len(measured)) == ({"pass"}, len(NAMES)), measured


@pytest.mark.slow
def test_max_fail_stops_and_keeps_the_results(tmp_path: Path) -> None:
    file = tmp_path / "results.ndjson"
    done = run("--max-fail", "2", "--results", file, kind="dies_on_every_case")
    assert done.status == 1, done.text
    assert "--max-fail 2" in done.err, done.text
    assert [value[0] for value in results(file).values()] == ["crash", "crash"], results(file)
    assert records(file)[-1]["kind"] == "result", "a footer says that the run is whole"


@pytest.mark.slow
def test_max_fail_does_not_hide_a_fault_of_the_adapter(tmp_path: Path) -> None:
    """The adapter breaks the format at one case, and differs from the reference at a later one."""
    later = "cmd:" + shlex.join([sys.executable, "-S", str(WRONG), "gives_nan_bytes", NAMES[-1]])
    file = tmp_path / "results.ndjson"
    done = run("--max-fail", "1", "--reference", later, "--results", file, kind="prints_a_line")
    verdicts = [value[0] for value in results(file).values()]
    assert verdicts[-1] == "wrong_value", verdicts
    assert "adapter_error" in verdicts, verdicts
    assert done.status == 2, done.text
    assert "--max-fail 1" in done.err, done.text
    assert f"onnx-conformance: {FAULTY}: {adapter('prints_a_line')} broke the wire format" in done.err, done.text


# Results files


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a run that nothing disturbed."""
    file = tmp_path_factory.mktemp("whole") / "results.ndjson"
    done = run("--results", file, kind="dies_by_segv")
    assert done.status == 1, done.text
    assert len(results(file)) == len(NAMES), file.read_text()
    return file


CUTS = {"behind the header": (1, 0), "between lines": (4, 0), "in the middle of a line": (4, 40), "at the end": (-1, 0)}


def cut(whole: Path, file: Path, lines: int, more: int) -> bytes:
    lines_ = whole.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines_[:lines]) + lines_[lines][:more])
    return file.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("where", CUTS)
def test_a_run_that_was_cut_off_goes_on_to_the_results_of_a_whole_one(where: str, whole: Path, tmp_path: Path) -> None:
    file = tmp_path / "results.ndjson"
    left = cut(whole, file, *CUTS[where])
    refused = run("--results", file, kind="dies_by_segv")
    failed_with(refused, str(file), "was cut off", "--resume")
    assert file.read_bytes() == left, "a refused run changed the file"
    done = run("--results", file, "--resume", kind="dies_by_segv")
    assert done.status == 1, done.text
    assert results(file) == results(whole)
    assert file.read_bytes().startswith(left[: left.rindex(b"\n") + 1]), "what was whole is not kept as it was"
    footers = [record for record in records(file) if record["kind"] == "footer"]
    expected = [record["counts"] for record in records(whole) if record["kind"] == "footer"]
    assert [record["counts"] for record in footers] == expected, footers


@pytest.mark.slow
def test_a_fault_before_the_cut_still_ends_the_run_with_2(tmp_path: Path) -> None:
    file, other = tmp_path / "results.ndjson", tmp_path / "other.ndjson"
    first = run("--results", file, kind="prints_a_line")
    assert first.status == 2, first.text
    cut(file, other, -1, 0)
    assert any("adapter_error" in line for line in other.read_text().splitlines()), other.read_text()
    done = run("--results", other, "--resume", kind="prints_a_line")
    failed_with(done, FAULTY, "broke the wire format")


@pytest.mark.slow
@pytest.mark.parametrize("content", [None, b""], ids=["missing", "empty"])
def test_resume_begins_where_nothing_was_begun(content: bytes | None, whole: Path, tmp_path: Path) -> None:
    file = tmp_path / "results.ndjson"
    if content is not None:
        file.write_bytes(content)
    done = run("--results", file, "--resume", kind="dies_by_segv")
    assert done.status == 1, done.text
    assert results(file) == results(whole)


@pytest.mark.slow
def test_existing_results_are_replaced_only_with_overwrite(whole: Path, tmp_path: Path) -> None:
    file = tmp_path / "results.ndjson"
    shutil.copy(whole, file)
    failed_with(run("--results", file), str(file), "contains results already", "--overwrite")
    failed_with(run("--results", file, "--overwrite", "--resume"), "--resume keeps", "use only one of them")
    assert file.read_bytes() == whole.read_bytes(), "a refused run changed the file"
    assert run("--results", file, "--overwrite").status == 0
    assert {backend for backend, _ in results(file)} == {adapter("good")}


DAMAGED_LINES = {
    "garbage": b"garbage",
    "not UTF-8": b'{"kind":"result","case":"\xff"}',
    "a list": b"[]",
    "no such verdict": b'{"kind":"result","case":"x","backend":"y","verdict":"fine"}',
    "without a case": b'{"kind":"result","backend":"y","verdict":"pass"}',
    "a case that is no text": b'{"kind":"result","case":[],"backend":"y","verdict":"pass"}',
    "nested": b"[" * 100_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("what", DAMAGED_LINES)
def test_a_damaged_line_is_named_by_its_number(what: str, whole: Path, tmp_path: Path) -> None:
    file = tmp_path / "results.ndjson"
    lines = whole.read_bytes().splitlines(keepends=True)
    lines[3] = DAMAGED_LINES[what] + b"\n"
    file.write_bytes(b"".join(lines))
    done = run("--results", file, "--resume", kind="dies_by_segv")
    failed_with(done, f"{file}, line 4:", "--resume")
    assert file.read_bytes() == b"".join(lines), "the file was changed"


HEADERS = {
    "no results file": (b"hello\n", "expected the header of a run"),
    "cut off": (b'{"kind":"header","format":1', "expected the header of a run"),
    "a result": (b'{"kind":"result"}\n', "expected the header of a run"),
    "another format": (b'{"kind":"header","format":99}\n', "format 99; this version reads format 1"),
    "nothing but its kind": (b'{"kind":"header","format":1}\n', "not a header: header must contain"),
}


@pytest.mark.parametrize("resume", [[], ["--resume"]], ids=["anew", "resume"])
@pytest.mark.parametrize("what", HEADERS)
def test_a_file_that_is_no_results_file_is_left_alone(what: str, resume: list[str], tmp_path: Path) -> None:
    content, why = HEADERS[what]
    file = tmp_path / "notes.txt"
    file.write_bytes(content)
    failed_with(run("--results", file, *resume), str(file), why)
    assert file.read_bytes() == content, "the file was changed"


@pytest.mark.slow
def test_only_the_same_run_can_be_resumed(whole: Path, suite: Path, tmp_path: Path) -> None:
    file = tmp_path / "results.ndjson"
    left = cut(whole, file, 4, 0)
    again = ["--results", file, "--resume"]
    failed_with(
        folder(suite, *again, kind="dies_by_segv"), str(file), "cannot be resumed: its suite is", "another --results"
    )
    selection = run(*again, kind="dies_by_segv", cases=["--case", FAULTY])
    failed_with(selection, str(file), "its selection is", "another --results")
    failed_with(run(*again, kind="good"), str(file), "its backends is", adapter("good"), "another --results")
    failed_with(
        run(*again, "--reference", "oracle", kind="dies_by_segv"),
        "its reference is none, but that of this run is oracle",
    )
    assert file.read_bytes() == left, "a refused run changed the file"
    shutil.copy(whole, file)
    failed_with(run(*again, kind="dies_by_segv"), str(file), "is complete", "nothing to resume")
    assert file.read_bytes() == whole.read_bytes(), "a refused run changed the file"


def test_a_runtime_that_changed_meanwhile_is_not_mixed_with_the_old_one(whole: Path, tmp_path: Path) -> None:
    file = tmp_path / "results.ndjson"
    left = cut(whole, file, 4, 0).replace(b'"version":"1"', b'"version":"0.9"', 1)
    file.write_bytes(left)
    failed_with(run("--results", file, "--resume", kind="dies_by_segv"), "was wrong 0.9", "is now wrong 1")
    assert file.read_bytes() == left, "a refused run changed the file"


def test_a_path_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    failed_with(run("--results", tmp_path / "missing" / "x"), "cannot write", "No such file or directory")
    failed_with(run("--results", file / "x"), str(file / "x"), "Not a directory")
    failed_with(run("--results", tmp_path / ("x" * 300)), "File name too long")


def test_a_full_disk_is_reported() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    failed_with(run("--results", "/dev/full"), "cannot write /dev/full: No space left on device")


# SIGINT


@pytest.mark.slow
def test_an_interrupted_run_keeps_its_results_and_resumes(tmp_path: Path) -> None:
    file = tmp_path / "results.ndjson"
    words = ["run", "--backend", adapter("is_very_slow"), *CASES, "--results", str(file)]
    process = subprocess.Popen(
        [sys.executable, "-m", "onnx_conformance", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that starts the tests in the background lets its children ignore SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - there are no threads yet
    )
    while not file.exists() or file.read_bytes().count(b"\n") < 3:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 2, out + err
    assert "Traceback" not in out + err, out + err
    assert "onnx-conformance: interrupted" in err, out + err
    assert f"--resume --results {file}" in err, out + err
    measured = results(file)
    assert 2 <= len(measured) < len(NAMES), f"{len(measured)} results of {len(NAMES)}: not in the middle of the run"
    assert f"{len(measured)} of the {len(measured)} attempted" in out, out + err
    assert not any(record["kind"] == "footer" for record in records(file)), "a footer says that the run is whole"
    done = command(*words, "--resume")
    assert done.status == 0, done.text
    assert set(results(file)) == {(adapter("is_very_slow"), f"{SPLIT}/{name}") for name in NAMES}, results(file)
    assert {key: results(file)[key] for key in measured} == measured, "what was measured is lost"
