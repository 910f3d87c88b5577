# SPDX-License-Identifier: Apache-2.0
"""An adapter that is not written in Python, held over the wire to the cases of its one operator.

It was written from README.md alone, so that what README.md leaves out would be seen here.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from onnx_conformance.backends import protocol
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.case import Outcome
from onnx_conformance.environments import backend_names
from onnx_conformance.judging.judge import judge
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.asker import Asker
from onnx_conformance.processes.replies import Refused
from onnx_conformance.run.scheduler import Scheduler
from onnx_conformance.suites.lookup import open_suite
from onnx_conformance.suites.selection import Selection
from paths import ADAPTERS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from onnx_conformance.base.target import Target
    from onnx_conformance.case.case import Case

pytestmark = pytest.mark.usefixtures("few_operators")

SCRIPT = ADAPTERS / "split_float32.mjs"


@pytest.fixture(scope="module")
def node() -> str:
    path = shutil.which("node")
    if path is None:
        pytest.skip("the adapter is written in JavaScript, and there is no node to run it")
    return path


def target(node: str, script: Path = SCRIPT) -> Target:
    return backend_names.resolve(f"cmd:{shlex.join([node, str(script)])}")


@pytest.fixture(scope="module")
def lane(node: str) -> Iterator[Asker]:
    with Asker(target(node), Limits()) as opened:
        yield opened


def split(case: str = "", tag: str = "") -> list[Case]:
    selection = Selection(("Split",), (case,) if case else (), (tag,) if tag else ())
    return list(open_suite("generated").cases(selection))


def lacks(case: Case) -> str:
    """Return what of a case the adapter says it lacks; empty if it must answer or refuse."""
    if case.files or case.earlier is not None:
        return "its adapter"
    graph = onnx.load_from_string(case.model).graph
    if len(graph.node) != 1:
        return "one node only"
    if graph.node[0].op_type != "Split":  # It is in a branch of an If, or in a function of the model.
        return "no kernel"
    if case.operator == "ai.onnx/Split/1":
        return "older than Split-2"
    data = case.inputs.get("input")
    wide = isinstance(data, np.ndarray) and data.dtype != np.float32
    return "no kernel" if wide else ""


@pytest.mark.slow
def test_every_basic_case_of_float32_passes(lane: Asker) -> None:
    counts: Counter[str] = Counter()
    for case in split(tag="basic"):
        result = judge(case, "split_float32", lane.ask(case))
        assert result.verdict is not Verdict.ADAPTER_ERROR, result
        expected = Verdict.UNSUPPORTED if lacks(case) else Verdict.PASS
        assert result.verdict is expected, f"{case.id}: {expected} expected, {result}"
        assert result.message.startswith(lacks(case)), f"{case.id}: {lacks(case)!r} expected, {result.message!r}"
        counts[case.outcome if expected is Verdict.PASS else expected] += 1
    assert min(counts[kind] for kind in (Outcome.VALUES, Outcome.REJECTS, Verdict.UNSUPPORTED)) >= 25, counts


@pytest.mark.slow
def test_every_case_of_split_sent_ahead_of_answers_is_judged(node: str) -> None:
    cases = {case.id: case for case in split()}
    with Scheduler([target(node)], Limits(restarts=0), jobs=2) as scheduler:
        scheduler.start()
        results = list(scheduler.run(cases.values()))
    assert scheduler.faults == [], scheduler.faults
    assert sorted(result.case for result in results) == sorted(cases), Counter(result.case for result in results)
    for result in results:
        case = cases[result.case]
        expected = Verdict.UNSUPPORTED if lacks(case) else Verdict.PASS
        if case.outcome is Outcome.UNSPECIFIED:
            expected = Verdict.UNSPECIFIED
        assert result.verdict is expected, f"{case.id}: {expected} expected, {result}"


def test_an_adapter_without_requests_sends_hello_and_exits(node: str) -> None:
    done = subprocess.run([node, str(SCRIPT)], input=b"", capture_output=True, timeout=60, check=False)
    header = protocol.parse_header(done.stdout)
    assert (header["kind"], header["protocol"], header["payload"]) == ("hello", protocol.VERSION, 0), header
    assert (done.returncode, done.stderr) == (0, b""), done


# Wrong on purpose: each of these must be noticed, and as what it is.

FAULTS = {
    "banner": ("process.stdout.write(answer(", 'console.log("ready"); process.stdout.write(answer('),
    "id": ("const { id } = header;", "const id = header.id + 1;"),
    "payload": ("data: Buffer.concat(rows) }", "data: Buffer.concat(rows).subarray(1) }"),
    "exit": ("const { id } = header;", "process.exit(4);"),
    "signal": ("const { id } = header;", 'process.kill(process.pid, "SIGKILL");'),
    "chunk": ("Math.ceil(dim / parts)", "Math.floor(dim / parts)"),
    "sum": ("sum === dim", "true"),
    "type": ('({ kind: "tensor", type, shape })', '({ kind: "tensor", type: 6, shape })'),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "case", "verdict", "says"),
    [
        ("banner", "lengths", Verdict.ADAPTER_ERROR, r"not a header line: b'ready'"),
        ("id", "lengths", Verdict.ADAPTER_ERROR, r"an answer to request 2 while 1 was due"),
        ("payload", "lengths", Verdict.ADAPTER_ERROR, r"needs 36 bytes, 34 are left|are left of the payload"),
        ("exit", "lengths", Verdict.CRASH, r"exited with status 4"),
        ("signal", "lengths", Verdict.CRASH, r"ended by SIGKILL"),
        ("chunk", "uneven", Verdict.WRONG_SHAPE, r""),
        ("sum", "sum_short", Verdict.ACCEPTED_INVALID, r""),
        ("type", "lengths", Verdict.WRONG_TYPE, r"int32"),
    ],
    ids=list(FAULTS),
)
def test_a_faulty_adapter_is_noticed(
    node: str, tmp_path: Path, fault: str, case: str, verdict: Verdict, says: str
) -> None:
    right, wrong = FAULTS[fault]
    text = SCRIPT.read_text()
    assert text.count(right) == 1, f"{right!r} stands {text.count(right)} times in {SCRIPT.name}"
    script = tmp_path / SCRIPT.name
    script.write_text(text.replace(right, wrong))
    [case_] = split(f"ai.onnx/Split/18/{case}")
    with Asker(target(node, script), Limits()) as opened:
        result = judge(case_, "faulty", opened.ask(case_))
    assert result.verdict is verdict, result
    assert re.search(says, result.message), f"{says!r} expected in {result.message!r}"


def test_float16_opts_out_with_a_reason(lane: Asker) -> None:
    [case] = split("ai.onnx/Split/18/signature_types_t/float16")
    reply = lane.ask(case)
    assert isinstance(reply, Refused), reply
    assert (reply.error, reply.reason) == ("Unsupported", "no kernel"), reply
