# SPDX-License-Identifier: Apache-2.0
"""What adapters in JavaScript share: the wire format in protocol.mjs, and serve_node.py, which starts them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import orphans
from onnx_conformance import backends
from onnx_conformance.backends import protocol
from onnx_conformance.base.target import Target
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.processes.adapter_process import Limits, StartError
from onnx_conformance.processes.asker import Asker
from onnx_conformance.processes.replies import Answered, Broken, Died, Refused
from paths import ADAPTERS
from refusals import refuses

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(backends.__file__).parent
ECHO = ADAPTERS / "echo.mjs"
SHAPES = ((), (0,), (3,), (2, 0), (2, 3), (1, 5, 1))
NODE = shutil.which("node") or ""
pytestmark = [
    pytest.mark.skipif(not NODE, reason="they are written in JavaScript, and there is no node to run them"),
    pytest.mark.usefixtures("ends"),
]


def target(folder: str = ".") -> Target:
    return Target("echo", (sys.executable, str(HERE / "serve_node.py"), NODE, str(ECHO), folder))


def test_an_adapter_on_its_standard_streams_waits_for_requests() -> None:
    """Node.js makes the standard streams non-blocking for a program that imports `node:process`, as echo.mjs does."""
    value = np.arange(50_000, dtype=np.float32)
    with Asker(Target("echo", (NODE, str(ECHO), "alone")), Limits()) as opened:
        for _ in range(3):
            time.sleep(0.05)  # Nothing is there to read yet.
            reply = opened.ask(case_of("", value))
            assert isinstance(reply, Answered), reply
            assert bits(reply.outputs[0]) == bits(value)


@pytest.fixture(scope="module")
def lane() -> Iterator[Asker]:
    with Asker(target(), Limits()) as opened:
        yield opened


def case_of(does: str = "", *values: Any) -> Case:
    """Return a case whose model says what the adapter does; its outputs are its inputs."""
    inputs = {f"x{index}": value for index, value in enumerate(values)}
    return Case(
        id=f"echo/{does}", operator="echo", model=does.encode(), inputs=inputs, outputs=tuple(inputs),
        outcome=Outcome.UNSPECIFIED, expected=None, allowance=Allowance("nothing is expected"),
    )  # fmt: skip


def bits(value: Any) -> Any:
    """Return what of a value must come back: structure, element types, shapes and bits."""
    buffers: list[bytes] = []
    return protocol.encode(value, buffers), buffers


def random(row: protocol.ElementType, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return elements of any bits: NaNs with a payload, subnormals, both zeros."""
    if row.number == protocol.STRING:
        texts = ["a", "", "ü\U0001f600", "\0b", "\udc80\udcff", '"\\\n'] * 2
        return np.array(texts[: int(np.prod(shape, dtype=int))], dtype=object).reshape(shape)
    size = protocol.packed_size(row.number, int(np.prod(shape, dtype=int)))
    drawn = np.random.default_rng(7).integers(0, 2 if row.name == "bool" else 256, size, np.uint8)
    return protocol.unpack(drawn.tobytes(), row.number, shape)


def test_the_element_types_are_the_same() -> None:
    script = f"import * as p from {str(HERE / 'protocol.mjs')!r}; console.log(JSON.stringify(p))"
    done = subprocess.run([NODE, "--input-type=module", "-e", script], capture_output=True, check=True)
    exported = json.loads(done.stdout)
    rows = [{"number": row.number, "name": row.name, "bits": row.bits} for row in protocol.ELEMENT_TYPES]
    assert exported["ELEMENT_TYPES"] == rows
    for name in ("VERSION", "MAX_HEADER", "MAX_PAYLOAD", "MAX_DEPTH", "STRING"):
        assert exported[name] == getattr(protocol, name), name


@pytest.mark.parametrize("row", protocol.ELEMENT_TYPES, ids=lambda row: row.name)
def test_tensors_keep_their_bits(lane: Asker, row: protocol.ElementType) -> None:
    values = [random(row, shape) for shape in SHAPES]
    reply = lane.ask(case_of("", *values))
    assert isinstance(reply, Answered), reply
    for value, output in zip(values, reply.outputs, strict=True):
        assert bits(value) == bits(output)


def test_containers_of_any_content_are_returned(lane: Asker) -> None:
    x, s = np.float32([1, 2, 3]), np.array(["a", "ü"], dtype=object)
    nested: list[Any] = [[x, x[:0]], [], [None, {"a": x, "b": s}]]
    values = [[], [x, s, np.uint8(3)], nested, None, {}, {7: x, -(2**63): s}, {"ü": np.float64(1)}, x]
    reply = lane.ask(case_of("", *values))
    assert isinstance(reply, Answered), reply
    assert list(map(bits, reply.outputs)) == list(map(bits, values))


def test_a_message_larger_than_a_pipe(lane: Asker) -> None:
    large, texts = np.arange(3_000_000, dtype=np.int64), np.array(["text of some length"] * 50_000, dtype=object)
    reply = lane.ask(case_of("", large, texts, np.int8(1)))
    assert isinstance(reply, Answered), reply
    assert list(map(bits, reply.outputs)) == list(map(bits, [large, texts, np.int8(1)]))


@pytest.mark.parametrize("does", ["print", "native", "reads"])
def test_the_pipe_is_kept_from_the_runtime(lane: Asker, does: str) -> None:
    x = np.float32([1, 2])
    reply = lane.ask(case_of(does, x))
    assert isinstance(reply, Answered), reply
    assert bits(reply.outputs[0]) == bits(x)


@pytest.mark.parametrize(
    ("does", "error", "message", "reason"),
    [
        ("lacks", "Lacking", "no kernel for this", "no kernel"),
        ("fails", "Lacking", "it is broken", None),
        ("number", "number", "7", None),
    ],
)
def test_errors_that_a_runtime_throws_are_refusals(
    lane: Asker, does: str, error: str, message: str, reason: str | None
) -> None:
    reply = lane.ask(case_of(does, np.float32(1)))
    assert isinstance(reply, Refused), reply
    assert (reply.error, reply.message, reply.reason) == (error, message, reason)
    assert not reply.phase  # It loads and runs a model in one call.


@pytest.mark.parametrize(("does", "phase"), [("breaks", "load"), ("fails", "run"), ("lacks", "run")])
def test_refusals_of_an_adapter_with_sessions_have_their_phase(does: str, phase: str) -> None:
    with Asker(target("sessions"), Limits()) as opened:
        reply = opened.ask(case_of(does, np.float32(1)))
        assert isinstance(reply, Refused), reply
        assert reply.phase == phase
        assert isinstance(opened.ask(case_of("", np.float32(1))), Answered)


@pytest.mark.parametrize(
    ("does", "sentence"),
    [("short", "7 bytes for shape [2]"), ("nothing", "TypeError"), ("bigint", "TypeError: Do not know how")],
)
def test_a_result_that_is_no_list_of_values_is_an_adapter_error(lane: Asker, does: str, sentence: str) -> None:
    reply = lane.ask(case_of(does))
    assert isinstance(reply, Broken), reply
    assert "the adapter is at fault" in reply.message
    assert sentence in reply.message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("does", "signal", "sentence"),
    [
        ("trap", "SIGABRT", "RuntimeError: divide by zero"),
        ("overflow", "SIGABRT", "Maximum call stack size exceeded"),
        ("segfault", "SIGSEGV", ""),
    ],
)
def test_a_crash_of_the_runtime_is_reported_and_the_next_case_runs(does: str, signal: str, sentence: str) -> None:
    with Asker(target(), Limits()) as opened:
        reply = opened.ask(case_of(does))
        assert isinstance(reply, Died), reply
        assert reply.signal == signal
        assert sentence in reply.stderr
        assert isinstance(opened.ask(case_of("", np.float32(1))), Answered)
        assert opened.process.ends == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with the one that started it")
def test_a_runtime_that_hangs_does_not_outlive_a_harness_that_is_killed() -> None:
    request = protocol.message({"kind": "run", "id": 1, "model": 5, "inputs": [], "outputs": []}, [b"hangs"])
    words = orphans.harness(target().command)
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as harness:
        assert harness.stdin
        assert harness.stdout
        harness.stdin.write(request)
        harness.stdin.close()
        pid = int(harness.stdout.readline())
        time.sleep(0.5)  # Until it hangs; one that did not would end with its requests, so it must be there now.
        assert orphans.runs(pid)
        harness.kill()
        harness.wait()
        while orphans.runs(pid):  # The test's own deadline ends this.
            time.sleep(0.05)


def test_a_missing_runtime_gets_a_sentence() -> None:
    with refuses("adapter-not-started", kind=StartError):
        Asker(target("absent"), Limits())


def test_the_end_of_requests_ends_it() -> None:
    done = subprocess.run(target().command, input=b"", capture_output=True, timeout=60, check=False)
    header = protocol.parse_header(done.stdout)
    assert (header["kind"], header["protocol"], header["name"]) == ("hello", protocol.VERSION, "echo")
    assert done.returncode == 0, done


def test_the_launcher_prints_its_usage() -> None:
    done = subprocess.run([sys.executable, str(HERE / "serve_node.py"), NODE], capture_output=True, check=False)
    assert done.returncode == 1
    assert b"usage: " in done.stderr


# Messages that do not follow the format

TENSOR = {"kind": "tensor", "type": 1, "shape": [2]}


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = TENSOR
    for _ in range(levels):
        value = {"kind": "sequence", "items": [value]}
    return value


BAD = {
    "no JSON": (b"banner\n", "not a header line"),
    "no object": (b"7\n", 'an object with a "kind"'),
    "no payload": (b'{"kind":"run"}\n', '"payload" is undefined'),
    "too large": (b'{"kind":"run","payload":1073741825}\n', '"payload" is 1073741825'),
    "cut header": (b'{"kind":"run"', "ended inside a header"),
    "cut payload": (b'{"kind":"run","payload":9}\n1234', "the stream ended after 4 of 9 bytes"),
}
VALUES = {
    "too few bytes": (TENSOR, b"1234", "needs 8 bytes, 4 are left"),
    "too many bytes": (TENSOR, b"123456789", "1 bytes are left over"),
    "no such type": ({**TENSOR, "type": 29}, b"", "element type 29"),
    "no shape": ({**TENSOR, "shape": [-1]}, b"", "tensor shape [-1]"),
    "no strings": ({"kind": "tensor", "type": 8, "shape": [1]}, b"", '"strings" of a value is undefined'),
    "too few strings": ({"kind": "tensor", "type": 8, "shape": [2], "strings": ["a"]}, b"", "1 strings for shape [2]"),
    "no kind": ({"type": 1}, b"", "value kind undefined"),
    "no items": ({"kind": "sequence"}, b"", '"items" of a value is undefined'),
    "too few values": ({"kind": "map", "keys": TENSOR, "values": []}, bytes(8), "0 values for [2] keys"),
    "too deep": (deep(33), bytes(8), "over 32 deep"),
}


def read(data: bytes) -> dict[str, Any]:
    done = subprocess.run([NODE, str(ECHO), "messages"], input=data, capture_output=True, check=True, timeout=60)
    return protocol.parse_header(done.stdout.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize(("data", "sentence"), BAD.values(), ids=list(BAD))
def test_a_malformed_message_is_reported(data: bytes, sentence: str) -> None:
    header = read(data)
    assert header["kind"] == "ProtocolError"
    assert sentence in header["message"]


@pytest.mark.slow
@pytest.mark.parametrize(("value", "payload", "sentence"), VALUES.values(), ids=list(VALUES))
def test_a_malformed_value_is_reported(value: Any, payload: bytes, sentence: str) -> None:
    header = read(protocol.message({"kind": "run", "values": [value]}, [payload]))
    assert header["kind"] == "ProtocolError", header
    assert sentence in header["message"]


def test_the_greatest_allowed_depth_is_read() -> None:
    data = protocol.message({"kind": "run", "values": [deep(32)]}, [bytes(8)])
    done = subprocess.run([NODE, str(ECHO), "messages"], input=data + data, capture_output=True, check=True)
    assert protocol.parse_header(done.stdout.partition(b"\n")[0])["values"] == [deep(32)]
    assert done.stdout.count(b'"kind":"read"') == 2, "one message behind the other"
