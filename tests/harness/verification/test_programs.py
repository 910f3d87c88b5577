# SPDX-License-Identifier: Apache-2.0
"""`export` on exporters that are wrong on purpose: each gets the verdict that it deserves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy_producer
import onnx
import pytest
from onnx import numpy_helper

from commands import command
from onnx_conformance.backends import protocol, serve
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.environments import backend_names
from onnx_conformance.processes import examiner, program_requests, replies
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.results.stream import Run
from onnx_conformance.verification.programs import Producer, chosen, requests
from refusals import refuses

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from onnx_conformance.base.verdict import Result

FILE = numpy_producer.__file__


@pytest.fixture(scope="module")
def producer() -> Iterator[Producer]:
    """Return an exporter whose programs name the way in which it errs; end the oracle's processes afterwards."""
    with Producer(backend_names.producer(FILE), Limits(restarts=3)) as producer:
        yield producer
    examiner.close()


def result_of(producer: Producer, program: str, *, dynamic: bool = False) -> Result:
    return producer.export(program_requests.program(FILE, program, 20, dynamic=dynamic)).result


WRONG: Mapping[str, tuple[Verdict, str]] = {
    "keepdims": (Verdict.WRONG_SHAPE, "expected shape [2, 1], got shape [2]"),
    "factor": (Verdict.WRONG_VALUE, "2 of 2 elements differ"),
    "no_reference": (Verdict.PASS, ""),
    "type": (Verdict.WRONG_TYPE, "expected tensor(float), got tensor(double)"),
    "outputs": (Verdict.WRONG_COUNT, "expected 1 outputs, got 2 outputs"),
    "cycle": (Verdict.INVALID_MODEL, "the model checker rejects the exported model"),
    "declared": (Verdict.INVALID_MODEL, "strict shape inference rejects the exported model"),
    "opset": (Verdict.INVALID_MODEL, "the model is of opset 21, but opset 20 was requested"),
    "lower": (Verdict.PASS, "the model is of opset 18, although opset 20 was requested"),
    "input": (Verdict.INVALID_MODEL, "the model has no input x"),
    "raises": (Verdict.REFUSED, "division by zero"),
    "crashes": (Verdict.CRASH, "ended by SIGABRT"),
    "right": (Verdict.PASS, ""),
}


@pytest.mark.parametrize("option", WRONG)
def test_a_wrong_exporter_gets_its_verdict(producer: Producer, option: str) -> None:
    result = result_of(producer, f"{option}:sum/keepdims")
    assert (result.verdict, WRONG[option][1] in result.message) == (WRONG[option][0], True), result


def test_an_exporter_that_hangs_is_ended(producer: Producer) -> None:
    process, limits = producer._asker.process, producer._asker.process.limits
    process.limits = Limits(timeout=0.5)
    assert result_of(producer, "hangs:exp").verdict is Verdict.TIMEOUT
    process.limits = limits
    assert result_of(producer, "right:exp").verdict is Verdict.PASS


def test_a_model_that_is_right_only_for_the_sizes_of_its_export_is_wrong(producer: Producer) -> None:
    assert result_of(producer, "baked:sum/keepdims").verdict is Verdict.PASS
    result = result_of(producer, "baked:sum/keepdims", dynamic=True)
    assert result.verdict is Verdict.INVALID_MODEL, result
    assert result.message.startswith("with x [4, 3]: "), result


OTHERS: Mapping[str, tuple[Verdict, str]] = {
    "exp": (Verdict.PASS, ""),
    "exp_of_float64": (Verdict.PASS, ""),
    "imprecise": (Verdict.PASS, ""),
    "rounded_twice": (Verdict.PASS, ""),
    "imprecise_sum": (Verdict.PASS, "only the framework's run in the types of the program differs"),
    "branch": (Verdict.PASS, ""),
    "unstable": (Verdict.UNSPECIFIED, "three different results"),
    "random": (Verdict.UNSPECIFIED, "draws at random"),
    "foreign": (Verdict.UNSPECIFIED, "no operator file declares com.example/Strange"),
    "missing": (Verdict.UNSUPPORTED, "no such function"),
}


@pytest.mark.parametrize("program", OTHERS)
def test_three_voices_decide(producer: Producer, program: str) -> None:
    result = result_of(producer, program, dynamic=True)
    assert (result.verdict, OTHERS[program][1] in result.message) == (OTHERS[program][0], True), result


def test_without_double_precision_a_difference_is_the_exporters(producer: Producer) -> None:
    assert result_of(producer, "no_reference:imprecise").verdict is Verdict.WRONG_VALUE


def test_the_command_reports_failures_and_writes_results(tmp_path: Path) -> None:
    results, kept = tmp_path / "results.ndjson", tmp_path / "kept"
    words = ["--results", results, "--failures", kept, "--shapes", "static", "--program", "sum", "--program", "exp"]
    done = command("export", "--producer", f"{FILE}[keepdims]", *words)
    assert done.status == 1, done.text
    assert "wrong_shape: numpy_producer/sum/20/keepdims\n" in done.out
    assert "2 of 3 judged programs passed" in done.out
    run = Run(results)
    assert run.complete
    assert [str(result.verdict) for result in run.results()] == ["wrong_shape", "pass", "pass"]
    assert "wrong_shape" in command("report", results).out
    (folder,) = kept.iterdir()
    assert numpy_helper.to_array(onnx.load_tensor(folder / "test_data_set_0" / "output_0.pb")).shape == (2, 1)
    assert command("run", "--suite", kept, "--backend", "onnx_reference").status == 1
    again = command("export", "--producer", f"{FILE}[keepdims]", *words)
    assert again.refused("results-exist", results)


def test_the_command_lists_programs() -> None:
    done = command("export", "--producer", FILE, "--list", "--program", "sum/*")
    assert (done.status, done.out) == (0, "sum/keepdims\nsum/flat\n"), done.text


def test_a_right_exporter_passes() -> None:
    done = command(
        "export", "--producer", FILE, "--program", "sum", "--program", "exp*", "--opset", "18", "--opset", "20"
    )
    assert done.status == 0, done.text
    assert "16 of 16 judged programs passed" in done.out


def test_wrong_words_get_a_sentence(tmp_path: Path) -> None:
    runtime = tmp_path / "runtime.py"
    runtime.write_text("def info(): return {'runtime': 'x', 'version': '1'}\ndef run(a, b, c): return None\n")
    assert command("export", "--producer", "tensorflow").refused("unknown-producer", "torch")
    assert command("export", "--producer", "torch[x]").refused("producer-without-options", "[x]")
    assert command("export", "--producer", runtime).refused("not-a-producer", "runtime")
    assert command("export", "--producer", FILE, "--program", "div").refused("program-glob-unmatched", "'div'")
    done = command("export", "--producer", FILE, "--program", "exp", "--sample", "1/100000")
    assert done.refused("sample-without-programs", "1/100000")
    lacking = tmp_path / "lacking.py"
    lacking.write_text(
        "def info(): return {'runtime': 'x', 'version': '1'}\n"
        "def programs(globs): return ['a']\n"
        "def produce(program, opset, dynamic): return None\n"
    )
    assert command("export", "--producer", lacking).refused("producer-without-opset", "--opset")
    done = command("export", "--producer", lacking, "--opset", "20")
    assert (done.status, "adapter_error: lacking/a/20" in done.out) == (2, True), done.text


class Faulty:
    """An exporter that cannot list its programs."""

    def info(self) -> dict[str, str]:
        return {"runtime": "x", "version": "1"}

    def produce(self, program: str, opset: int, dynamic: bool) -> None:  # noqa: FBT001
        del program, opset, dynamic

    programs: object = None


def test_an_exporter_needs_a_function_that_lists_its_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_producer, "faulty", Faulty(), raising=False)
    with pytest.raises(serve.LoadError):
        serve.load("numpy_producer.faulty")
    monkeypatch.setattr(Faulty, "programs", lambda self: [str(self)])
    with pytest.raises(serve.LoadError):
        serve.load("numpy_producer.faulty")
    monkeypatch.setattr(Faulty, "programs", lambda self, _globs: [1, self])
    data = serve.answer(Faulty(), {"kind": "list", "id": 1, "globs": []}, b"")
    assert protocol.parse_header(data.rstrip(b"\n"))["kind"] == "fault"


def test_a_producer_runs_no_models() -> None:
    data = serve.answer(numpy_producer, {"kind": "run", "id": 1, "model": 0, "inputs": [], "outputs": []}, b"")
    header = protocol.parse_header(data.rstrip(b"\n"))
    assert (header["kind"], "`onnx-conformance export` tests it" in header["message"]) == ("refused", True), header


def test_globs_select_by_name_and_by_operation() -> None:
    names = ("add/0/float32", "add/0/int64", "nn.relu/0/float32")
    assert chosen(names, ["add"]) == [*names[:2]]
    assert chosen(names, ["*/float32", "add"]) == [names[0], names[2], names[1]]
    assert chosen(names, []) == [*names]
    with refuses("program-glob-unmatched"):
        chosen(names, ["add", "sub"])


def test_ids_do_not_depend_on_the_folder_of_the_exporter() -> None:
    found = [item.id for item in requests("./a/my.py[x]", ["add/0/int64", "exp"], [18], ["static", "dynamic"])]
    assert found == ["my/add/18/0/int64", "my/add/18/0/int64@dynamic", "my/exp/18", "my/exp/18@dynamic"]
    whole = {item.id for item in requests("a", map(str, range(300)), [18], ["static"])}
    half = {item.id for item in requests("a", map(str, range(300)), [18], ["static"], sample=2)}
    assert half < whole
    assert 100 < len(half) < 200


MALFORMED: Mapping[str, Mapping[str, object]] = {
    "no runs": {"model": 0, "runs": []},
    "a size beyond the payload": {"model": 9, "runs": [{"inputs": [], "outputs": []}]},
    "a run that is no object": {"model": 0, "runs": [1]},
    "an input without a name": {"model": 0, "runs": [{"inputs": [{}], "outputs": []}]},
    "a reference that is no list": {"model": 0, "runs": [{"inputs": [], "outputs": [], "reference": 1}]},
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_product_breaks_the_wire_format(name: str) -> None:
    request, hello = program_requests.program("a", "b", 1, dynamic=False), {"subject": "producer"}
    header = {"kind": "product", "payload": 0, **MALFORMED[name]}
    with pytest.raises(protocol.HeaderError):
        replies.parse(header, b"", request, hello)


def test_only_a_producer_answers_with_a_product_or_programs() -> None:
    request, hello = program_requests.program("a", "b", 1, dynamic=False), {"subject": "producer"}
    right = {"kind": "product", "payload": 0, "model": 0, "runs": [{"inputs": [], "outputs": []}]}
    assert replies.parse(right, b"", request, hello) == replies.Product(b"", (replies.ProgramRun({}, (), None),), None)
    names = {"kind": "programs", "payload": 0, "programs": ["a"]}
    assert replies.parse(names, b"", program_requests.names(()), hello) == replies.Programs(("a",))
    wrong = ((right, request, {}), (names, request, hello), (right, program_requests.names(()), hello))
    for header, case, described in wrong:
        with pytest.raises(protocol.HeaderError):
            replies.parse(header, b"", case, described)
    with pytest.raises(protocol.HeaderError):
        replies.parse({**names, "programs": [1]}, b"", program_requests.names(()), hello)
    with pytest.raises(protocol.PayloadError):
        replies.parse({**right, "payload": 1 << 29}, None, request, hello)
