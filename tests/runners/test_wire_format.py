# SPDX-License-Identifier: Apache-2.0
"""The wire format in C and Rust: every value returns unchanged, and a malformed request ends the program.

`ONNX_CONFORMANCE_ROUNDS=2000 pytest -k mutated tests/runners` tries more mutations; see tests/mutation.py.
"""

from __future__ import annotations

import io
import json
import random
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import mutation
from commands import command
from compiled import RUST, SANITIZED, STRICT, C, c_program, rust_program, rust_tool
from onnx_conformance.backends import protocol
from onnx_conformance.results.stream import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

pytestmark = [pytest.mark.usefixtures("ends"), pytest.mark.xdist_group("runners")]

ECHO = "echo_runner.c"
CPLUSPLUS = ("-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", f"-I{C}")
ECHOES: dict[str, Callable[[], Path]] = {
    "c": lambda: c_program(ECHO, flags=(*STRICT, *SANITIZED)),
    "c++": lambda: c_program(ECHO, compiler="c++", flags=CPLUSPLUS),
    "rust": lambda: rust_program("echo"),
}
"""Runners that return their inputs."""
SMALL = "small_runtime"
MALFORMED = 2
"""Exit status of a runner that gets a malformed request."""


@pytest.fixture(params=ECHOES)
def echo(request: pytest.FixtureRequest) -> Path:
    """Return each runner that returns its inputs."""
    return ECHOES[request.param]()


def sent(program: Path, data: bytes) -> tuple[int, bytes, str]:
    """Return the status, the answers and the messages of a runner that gets some bytes."""
    done = subprocess.run(
        [program], input=data, capture_output=True, timeout=20, check=False, env={"ASAN_OPTIONS": "detect_leaks=0"}
    )
    return done.returncode, done.stdout, done.stderr.decode()


def request_of(inputs: Sequence[Any], number: int = 1, model: bytes = b"model", **more: Any) -> bytes:
    """Return a request for as many outputs as there are inputs."""
    buffers = [model, *(bytes(item["size"]) for item in more.get("files", ()))]
    described = [{"name": f"x{i}", "value": protocol.encode(value, buffers)} for i, value in enumerate(inputs)]
    names = [f"y{i}" for i in range(len(inputs))]
    header = {"kind": "run", "id": number, "model": len(model), "inputs": described, "outputs": names, **more}
    return protocol.message(header, buffers)


def answers_of(data: bytes) -> list[tuple[dict[str, Any], list[Any]]]:
    """Return the header and the values of each answer after the hello."""
    stream, found = io.BytesIO(data), []
    hello = protocol.read(stream)
    assert hello is not None
    assert (hello[0]["kind"], hello[0]["protocol"]) == ("hello", protocol.VERSION)
    while (message := protocol.read(stream)) is not None:
        payload = protocol.Payload(message[1])
        found.append((message[0], [payload.decode(item) for item in message[0].get("outputs", ())]))
        payload.end()
    return found


# Right requests

EVERY_TYPE = [
    protocol.unpack(bytes(protocol.packed_size(row.number, 6)), row.number, (2, 3))
    for row in protocol.ELEMENT_TYPES
    if row.number != protocol.STRING
]
TEXTS = np.array([["a", "", "\0"], ["\udc80\udcff", 'é\\"\n\x1f', "\U0001f600"]], dtype=object)
VALUES: dict[str, list[Any]] = {
    "every type": EVERY_TYPE,
    "packed": [protocol.unpack(bytes([0xC1, 0xF7, 0x03, 0x08]), 27, (5,)), protocol.unpack(b"\x39\x01", 25, (5,))],
    "strings": [TEXTS],
    "no elements": [np.zeros((0, 3), np.float32), np.zeros(0, bool), np.empty((2, 0), object)],
    "scalars": [np.float32(1.5), np.array("text", object), np.array(True)],  # noqa: FBT003 - an element
    "sequences": [[np.arange(3), np.zeros(2, np.int64)], [], [TEXTS]],
    "maps": [{1: np.ones(2), -5: np.ones(1)}, {"a": np.arange(2), "": np.arange(3)}, {}],
    "optionals": [None, [None, np.ones(())]],
    "nested": [[[{"k": [np.arange(2, dtype=np.uint8)]}], None]],
    "large": [np.arange(300_000, dtype=np.float64)],
    "none": [],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", VALUES)
def test_values_return_unchanged(echo: Path, name: str) -> None:
    more: dict[str, Any] = {"files": [{"name": "data.bin", "size": 3}], "earlier": []}
    data = request_of(VALUES[name], 7) + request_of(VALUES[name], 2**63 - 1, **more)
    status, out, err = sent(echo, data)
    assert status == 0, err
    first, second = answers_of(out)
    assert (first[0]["id"], second[0]["id"], first[0]["seconds"]) == (7, 2**63 - 1, 0.25)
    expected: list[bytes] = []
    described = [protocol.encode(value, expected) for value in VALUES[name]]
    for _, values in (first, second):
        actual: list[bytes] = []
        assert [protocol.encode(value, actual) for value in values] == described
        assert actual == expected


def test_other_output_is_not_mistaken_for_an_answer(echo: Path) -> None:
    status, out, err = sent(echo, request_of([np.arange(3)]))
    assert (status, len(answers_of(out))) == (0, 1)
    if "echo_runner" in echo.name:
        assert err == "this line must not become a part of an answer\n"


def test_the_sources_in_rust_are_formatted() -> None:
    sources = sorted(str(path) for path in RUST.rglob("*.rs"))
    assert len(sources) >= 8
    words = [rust_tool("rustfmt"), "--check", "--edition", "2021", "--config-path", str(RUST)]
    done = subprocess.run([*words, *sources], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_runner_in_rust_redirects_the_standard_output() -> None:
    status, out, err = sent(rust_program(SMALL), b"")
    assert (status, answers_of(out), err) == (0, [], "this line must not become a part of an answer\n")


# Malformed requests


def framed(header: Any, payload: bytes = b"") -> bytes:
    """Return a message whose header is JSON text, or a value."""
    return (header if isinstance(header, bytes) else json.dumps(header).encode()) + b"\n" + payload


def with_value(value: Any, payload: bytes = b"") -> bytes:
    """Return a request with one described input."""
    header = {"kind": "run", "id": 1, "model": 0, "inputs": [{"name": "x", "value": value}], "outputs": ["y"]}
    return framed({**header, "payload": len(payload)}, payload)


def with_fields(**fields: Any) -> bytes:
    """Return a request without inputs and payload, with some changed fields."""
    return framed({"kind": "run", "id": 1, "model": 0, "inputs": [], "outputs": [], "payload": 0, **fields})


GOOD = request_of([np.arange(3)])
TENSOR = {"kind": "tensor", "type": 1, "shape": [1]}
KEYS = {"kind": "tensor", "type": 7, "shape": [2]}
BROKEN = {
    "header without end": GOOD[:20],
    "payload cut off": GOOD[:-1],
    "no JSON": framed(b"hello"),
    "empty line": b"\n",
    "an array": framed([1]),
    "text behind the object": framed(b'{"kind":"run"} x'),
    "text without end": framed(b'{"kind":"run'),
    "bytes that are not UTF-8": framed(b'{"kind":"\xff"}'),
    "unknown escape": framed(rb'{"kind":"\x"}'),
    "half of a pair": framed(rb'{"kind":"\ud800"}'),
    "control character": framed(b'{"kind":"\x01"}'),
    "leading zero": framed(b'{"kind":"run","id":01}'),
    "field twice": framed(b'{"kind":"run","kind":"run"}'),
    "no fields": framed({}),
    "nested arrays": framed(b"[" * 100_000),
    "many values": framed(b"[" + b"1," * (1 << 21) + b"1]"),
    "another kind": with_fields(kind="stop\x1b[31m"),
    "huge payload": with_fields(payload=2**40),
    "payload of 1 GiB that does not follow": with_fields(payload=2**30),
    "negative payload": with_fields(payload=-1),
    "payload with a fraction": with_fields(payload=0.5),
    "payload of true": with_fields(payload=True),
    "id of text": with_fields(id="1"),
    "no inputs": with_fields(inputs=None),
    "outputs of numbers": with_fields(outputs=[1]),
    "larger model than payload": with_fields(model=1),
    "larger file than payload": with_fields(files=[{"name": "a", "size": 1}]),
    "earlier of text": with_fields(earlier="x"),
    "input without a value": with_fields(inputs=[{"name": "x"}]),
    "element type 0": with_value({**TENSOR, "type": 0}, bytes(4)),
    "element type 29": with_value({**TENSOR, "type": 29}, bytes(4)),
    "element type of text": with_value({**TENSOR, "type": "float"}, bytes(4)),
    "other element type than bytes": with_value({**TENSOR, "type": 11}, bytes(4)),
    "bytes left over": with_value(TENSOR, bytes(5)),
    "negative dimension": with_value({**TENSOR, "shape": [-1]}, bytes(4)),
    "dimension with a fraction": with_value({**TENSOR, "shape": [1.0]}, bytes(4)),
    "huge dimension": with_value({**TENSOR, "shape": [2**63]}, bytes(4)),
    "huge product": with_value({**TENSOR, "shape": [2**40, 2**40]}, bytes(4)),
    "65 dimensions": with_value({**TENSOR, "shape": [1] * 65}, bytes(4)),
    "bool of 2": with_value({**TENSOR, "type": 9}, b"\2"),
    "too few strings": with_value({"kind": "tensor", "type": 8, "shape": [2], "strings": ["a"]}),
    "string of a number": with_value({"kind": "tensor", "type": 8, "shape": [1], "strings": [1]}),
    "unknown kind of value": with_value({"kind": "table"}),
    "value of null": with_value(None),
    "sequence without items": with_value({"kind": "sequence"}),
    "item of text": with_value({"kind": "sequence", "items": ["x"]}),
    "map with a key twice": with_value({"kind": "map", "keys": KEYS, "values": [TENSOR, TENSOR]}, bytes(24)),
    "map with too few values": with_value({"kind": "map", "keys": KEYS, "values": [TENSOR]}, bytes(20)),
    "map with keys of float": with_value({"kind": "map", "keys": TENSOR, "values": [TENSOR]}, bytes(8)),
    "map with keys of a sequence": with_value({"kind": "map", "keys": {"kind": "sequence", "items": []}, "values": []}),
    "values 40 deep": with_value(json.loads('{"kind":"optional","item":' * 40 + "null" + "}" * 40)),
}
"""By what is wrong, bytes that are no request."""


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_a_malformed_request_ends_the_runner_with_one_line(echo: Path, name: str) -> None:
    status, out, err = sent(echo, GOOD + BROKEN[name])
    own = err.splitlines()[-1]
    assert status == MALFORMED, err
    assert own.startswith("onnx_conformance: "), err
    assert own.isprintable(), err
    assert len(own) < 500, err
    assert len(err.splitlines()) == 1 + err.startswith("this line"), err
    assert [header["kind"] for header, _ in answers_of(out)] == ["answer"]


@pytest.mark.slow
def test_an_endless_header_ends_the_runner(echo: Path) -> None:
    status, _, err = sent(echo, GOOD + b" " * (protocol.MAX_HEADER + 2))
    assert (status, str(protocol.MAX_HEADER) in err) == (MALFORMED, True), err


def mutated(rng: random.Random) -> bytes:
    """Return a request that was right before some of its bytes or fields changed."""
    data = request_of(rng.choice(list(VALUES.values())[1:-2]))
    line, _, payload = data.partition(b"\n")
    if rng.random() < 0.7:
        line = mutation.text(mutation.changed_json(rng, json.loads(line)))
    if rng.random() < 0.5:
        line = mutation.changed_bytes(rng, line)
    if rng.random() < 0.3:
        payload = mutation.changed_bytes(rng, payload)
    return line + b"\n" + payload


@pytest.mark.slow
@pytest.mark.parametrize("echo", ["c", "rust"], indirect=True)
def test_a_mutated_request_is_answered_or_ends_the_runner(echo: Path) -> None:
    statuses = set()
    for seed in range(mutation.rounds(100)):
        status, out, err = sent(echo, mutated(random.Random(seed)))
        assert status in {0, MALFORMED}, f"seed {seed}: {status}: {err}"
        assert status == 0 or err.splitlines()[-1].startswith("onnx_conformance: "), f"seed {seed}: {err}"
        answers_of(out)
        statuses.add(status)
    assert statuses == {0, MALFORMED}


# In the harness


def verdicts(tmp_path: Path, program: str, *words: str) -> dict[str, tuple[str, str]]:
    """Return the outcome and the verdict of each case that a runner gets from the harness."""
    results = tmp_path / "results.ndjson"
    done = command("run", "--backend", f"cmd:{program}", *words, "--results", results, "--overwrite")
    assert done.status in {0, 1}, done.text
    return {item.case: (str(item.outcome), str(item.verdict)) for item in Run(results).results()}


IDENTITY = ("--op", "Identity/25", "--core", "--form", "plain")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "expected"), [("", {"pass"}), ("swap", {"pass", "wrong_value"}), ("drop", {"wrong_count"})]
)
def test_the_harness_notices_a_wrong_runner(tmp_path: Path, fault: str, expected: set[str]) -> None:
    found = verdicts(tmp_path, f"{c_program(ECHO)} {fault}", *IDENTITY)
    of_values = [verdict for outcome, verdict in found.values() if outcome == "values"]
    assert len(of_values) >= 20, found
    assert set(of_values) == expected, found


@pytest.mark.slow
def test_the_small_runtime_in_rust_passes_its_operators(tmp_path: Path) -> None:
    words = ("--core", "--op", "Identity", "--op", "Add", "--op", "Split", "--op", "Neg")
    found = verdicts(tmp_path, str(rust_program(SMALL)), *words)
    own = [verdict for case, (_, verdict) in found.items() if "/Neg/" not in case]
    assert set(own) == {"pass", "unsupported", "unspecified", "lenient"}, found
    assert own.count("pass") >= 300, own.count("pass")
    assert own.count("lenient") <= 10, own.count("lenient")
    others = {verdict for case, (_, verdict) in found.items() if "/Neg/" in case}
    assert others == {"unsupported"}, "it has no Neg"
    narrow = verdicts(tmp_path, str(rust_program(SMALL)), "--case", "ai.onnx/Add/13/*bfloat16*")
    assert {verdict for _, verdict in narrow.values()} == {"unsupported"}, (
        "it accepts the type, but has no kernel for it"
    )
