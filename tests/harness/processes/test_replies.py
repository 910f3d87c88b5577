# SPDX-License-Identifier: Apache-2.0
"""Replies that no right adapter gives: each is a reply or a broken one, in bounded memory and time, and nothing else.

`ONNX_CONFORMANCE_ROUNDS=200000 pytest -k mutated tests/harness/processes` tries more; see tests/mutation.py.
"""

from __future__ import annotations

import dataclasses
import json
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import mutation
from onnx_conformance.backends import protocol
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.judging.judge import judge
from onnx_conformance.minimize.limits import within
from onnx_conformance.processes import replies
from onnx_conformance.processes.messages import ANY, Incoming, Room
from onnx_conformance.processes.replies import Answered, Broken, Oversized, Refused, Reply
from onnx_conformance.results.stream import to_record

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.base.verdict import Result

TIME, MEMORY = 10.0, 256 << 20
"""Seconds and bytes that one message may take; the first is many times what any takes."""

EVERY_TYPE = [
    protocol.unpack(bytes(protocol.packed_size(row.number, 6)), row.number, (2, 3))
    for row in protocol.ELEMENT_TYPES
    if row.number != protocol.STRING
]
TEXTS = np.array([["a", "", "\0"], ["\udc80", "é", "\U0001f600"]], dtype=object)
VALUES: dict[str, list[Any]] = {
    "every type": EVERY_TYPE,
    "strings": [TEXTS],
    "no elements": [np.zeros((0, 3), np.float32), np.zeros(0, bool), np.empty((2, 0), object)],
    "scalars": [np.float32(1.5), np.array("text", object), np.array(True)],  # noqa: FBT003 - an element
    "sequences": [[np.arange(3), np.zeros(2, np.int64)], [], [TEXTS]],
    "maps": [{1: np.ones(2), -5: np.ones(1)}, {"a": np.arange(2), "": np.arange(3)}, {}],
    "optionals": [None, [None, np.ones(())]],
    "nested": [[[{"k": [np.arange(2, dtype=np.uint8)]}], None]],
    "none": [],
}


def answer(values: list[Any]) -> tuple[dict[str, Any], bytes]:
    """Return the header and the payload of an answer, as they are read."""
    buffers: list[bytes] = []
    outputs = [protocol.encode(value, buffers) for value in values]
    data = protocol.message({"kind": "answer", "id": 1, "outputs": outputs, "seconds": 0.25}, buffers)
    line, _, payload = data.partition(b"\n")
    return json.loads(line), payload


GOOD = [answer(values) for values in VALUES.values()] + [
    ({"kind": "refused", "id": 1, "error": "Invalid", "message": "no graph", "payload": 0}, b""),
    ({"kind": "unsupported", "id": 1, "error": "E", "message": "m", "reason": "no kernel", "payload": 0}, b""),
    ({"kind": "fault", "id": 1, "message": "no list", "payload": 0}, b""),
]


def case(values: list[Any] | None, outcome: Outcome = Outcome.VALUES) -> Case:
    """Return a case that expects these values."""
    expected = tuple(np.asarray(value) if isinstance(value, np.generic) else value for value in values or ())
    return Case(
        id="ai.onnx/Split/13/mutated", operator="ai.onnx/Split/13", model=b"", inputs={}, outputs=("y",),
        outcome=outcome, expected=None if values is None else expected, allowance=Allowance("none"),
    )  # fmt: skip


CASES = [*map(case, VALUES.values()), case(None, Outcome.REJECTS), case(None, Outcome.UNSPECIFIED)]


def reply_of(data: bytes, case_: Case, chunk: int = 1 << 16) -> Reply | None:
    """Return the reply that bytes hold, or None where they are not yet a whole message.

    Raises:
        ProtocolError: they are none.
    """
    incoming = Incoming()
    for begin in range(0, len(data), chunk):
        incoming.add(data[begin : begin + chunk])
        if (message := incoming.next(lambda: replies.room(case_))) is not None:
            return replies.parse(*message)
    return None


def judged(data: bytes, case_: Case, chunk: int = 1 << 16) -> Result | None:
    """Return the result of a reply, as written to a results file; None where it is malformed or incomplete."""
    with within(TIME, MEMORY):
        reply, why = None, ""
        try:
            reply = reply_of(data, case_, chunk)
        except protocol.ProtocolError as error:
            why = str(error)
        assert len(why) < 1000, why
        if reply is None:
            return None
        assert isinstance(reply, Answered | Oversized | Refused | Broken), reply
        result = judge(case_, "mine", reply)
        json.dumps(to_record(result)).encode()
        return result


def mutated(rng: random.Random) -> bytes:
    """Return a message that was right before it was changed: its header, its bytes, or their description."""
    header, payload = rng.choice(GOOD)
    line = mutation.text(mutation.changed_json(rng, header) if rng.random() < 0.7 else header)
    if rng.random() < 0.3:
        line = mutation.changed_bytes(rng, line)
    if rng.random() < 0.3:
        payload = mutation.changed_bytes(rng, payload)
    return line + b"\n" + payload


@pytest.mark.slow
def test_a_mutated_reply_is_a_reply_or_a_broken_one() -> None:
    ends: dict[str, int] = {}
    for seed in range(mutation.rounds(2000)):
        rng = random.Random(seed)
        data, case_, chunk = mutated(rng), rng.choice(CASES), rng.choice((1 << 16, 1 << 16, 100))
        try:
            result = judged(data, case_, chunk if len(data) < 1 << 16 else 1 << 16)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}: {data[:300]!r}") from error
        ends[str(result and result.verdict)] = ends.get(str(result and result.verdict), 0) + 1
    assert {"None", "pass", "wrong_type", "wrong_shape", "refused", "accepted_invalid"} <= set(ends), ends


@pytest.mark.parametrize("name", VALUES)
def test_unmutated_replies_pass(name: str) -> None:
    case_ = case(VALUES[name])
    header, payload = answer(VALUES[name])
    result = judged(json.dumps(header).encode() + b"\n" + payload, case_, 7)
    assert result is not None
    assert result.verdict is Verdict.PASS, result


# What broke the harness once, or took it more than it has


def raw_answer(outputs: bytes, payload: bytes = b"0", **more: bytes) -> Callable[[], bytes]:
    fields = {b"kind": b'"answer"', b"id": b"1", b"outputs": outputs, b"payload": payload}
    fields |= {key.encode(): value for key, value in more.items()}
    return lambda: b"{" + b",".join(b'"%s":%s' % pair for pair in fields.items()) + b"}\n"


def tensor(shape: bytes, number: int = 1, more: bytes = b"") -> bytes:
    return b'[{"kind":"tensor","type":%d,"shape":%s%s}]' % (number, shape, more)


DIGITS = b"1" + b"0" * 4000
NESTED = b"[" * 900 + b"]" * 900
CORPUS: dict[str, tuple[Callable[[], bytes], str]] = {
    "a shape of 4000 digits": (raw_answer(tensor(b"[%s,%s]" % (DIGITS, DIGITS))), "tensor shape"),
    "the same of strings": (raw_answer(tensor(b"[%s,%s]" % (DIGITS, DIGITS), 8, b',"strings":[]')), "tensor shape"),
    "a shape of a million digits": (raw_answer(tensor(b"[%s]" % (b"8" * 1_000_000))), "tensor shape"),
    "dimensions that no product holds": (raw_answer(tensor(b"[%s1]" % (b"9223372036854775807," * 63))), "needs"),
    "dimensions beyond 64 bits beside a 0": (raw_answer(tensor(b"[0,9223372036854775808]")), "below 2**63"),
    "a thousand dimensions": (raw_answer(tensor(b"[%s1]" % (b"1," * 999))), "expected at most 64"),
    "15 million lists": (raw_answer(b"[%s[]]" % (b"[]," * 15_000_000)), "a header line of over"),
    "a line without end": (lambda: b"[" * (5 << 20), "a header line of over"),
    "a shape that is nested": (raw_answer(tensor(NESTED)), "tensor shape"),
    "a value that is nested": (raw_answer(b"[%s]" % NESTED), "described by an object"),
    "an id of 5000 digits": (raw_answer(b"[]", id=b"9" * 5000, payload=b"1.5"), '"payload" is 1.5'),
    "a payload of 5000 digits": (raw_answer(b"[]", payload=b"9" * 5000), '"payload" is inf'),
    "another encoding": (lambda: raw_answer(b"[]")()[:-1].decode().encode("utf-16") + b"\n", "not a header line"),
    "a bool of 2": (lambda: raw_answer(tensor(b"[1]", 9), b"1")() + b"\2", "has a byte 2"),
}


@pytest.mark.parametrize("name", CORPUS)
def test_replies_that_once_broke_the_harness_are_broken_replies(name: str) -> None:
    make, why = CORPUS[name]
    data = make()
    with pytest.raises(protocol.ProtocolError) as caught, within(TIME, MEMORY):
        reply_of(data, case(EVERY_TYPE))
    assert why in str(caught.value), caught.value


@pytest.mark.parametrize("key", ["error", "message", "reason"])
def test_members_that_are_no_text_are_shown_as_json(key: str) -> None:
    words = {"error": b'"E"', "message": b'"m"', "reason": b'"r"', key: NESTED, "kind": b'"unsupported"'}
    reply = reply_of(raw_answer(b"[]", **words)(), case(None))
    assert isinstance(reply, Refused), reply
    assert getattr(reply, key).startswith("[[["), reply


# Large answers

BIG = ANY.payload + (1 << 20)
"""Bytes that no small case needs."""


def large(number: int, count: int, size: int = BIG) -> bytes:
    return raw_answer(tensor(b"[%d]" % count, number), b"%d" % size)() + bytes(size)


@pytest.mark.parametrize(
    ("expected", "outcome", "verdict"),
    [
        ([np.zeros(3, np.uint8)], Outcome.VALUES, Verdict.WRONG_SHAPE),
        ([np.zeros(3, np.float32)], Outcome.VALUES, Verdict.WRONG_TYPE),
        ([np.zeros(3, np.uint8), None], Outcome.VALUES, Verdict.WRONG_COUNT),
        ([[np.zeros(3, np.uint8)]], Outcome.VALUES, Verdict.WRONG_TYPE),
        (None, Outcome.REJECTS, Verdict.ACCEPTED_INVALID),
        (None, Outcome.UNSPECIFIED, Verdict.UNSPECIFIED),
    ],
)
def test_an_answer_too_large_to_be_read_is_judged_by_type_and_shape(
    expected: list[Any] | None, outcome: Outcome, verdict: Verdict
) -> None:
    result = judged(large(2, BIG), case(expected, outcome))
    assert result is not None
    assert (result.verdict, result.actual) == (verdict, f"uint8[{BIG}]"), result


def test_a_large_answer_that_is_expected_is_read() -> None:
    case_ = case([np.zeros(BIG, np.uint8)])
    result = judged(large(2, BIG), case_)
    assert result is not None
    assert result.verdict is Verdict.PASS, result


def test_a_large_answer_takes_only_the_memory_of_its_types_and_shapes() -> None:
    """512 MiB of int2 were 2 GiB of elements, and as many again of single bits."""
    case_, size = case([np.zeros(3, np.float32)]), 512 << 20
    incoming, block = Incoming(), bytes(1 << 20)
    with within(60, 64 << 20):
        incoming.add(raw_answer(tensor(b"[%d]" % (4 * size), 26), b"%d" % size)())
        message = None
        for _ in range(size // len(block)):
            assert message is None, "it is not whole yet"
            incoming.add(block)
            message = incoming.next(lambda: replies.room(case_))
        assert message is not None
        reply = replies.parse(*message)
        assert isinstance(reply, Oversized), reply
        result = judge(case_, "mine", reply)
    assert result.verdict is Verdict.WRONG_TYPE, result
    assert not incoming.begun


def test_a_large_map_of_the_expected_kind_is_the_adapters_fault() -> None:
    """Its keys, and so the size of its values, are not known."""
    keys, values = {"kind": "tensor", "type": 7, "shape": [1]}, [{"kind": "tensor", "type": 2, "shape": [BIG]}]
    header = {"kind": "answer", "id": 1, "outputs": [{"kind": "map", "keys": keys, "values": values}]}
    data = protocol.message(header, [bytes(8 + BIG)])
    result = judged(data, case([{5: np.zeros(3, np.uint8)}]))
    assert result is not None
    assert result.verdict is Verdict.ADAPTER_ERROR, result
    assert result.message.startswith("mine: an answer of"), result


def test_the_room_for_a_reply_grows_with_inputs_and_expected_outputs() -> None:
    small, long = case([np.zeros(3)]), case([np.array(["x" * 10_000_000], object)])
    fed = dataclasses.replace(small, inputs={"x": np.zeros(10_000_000, np.uint8)})
    assert replies.room(small).header < 2 * ANY.header
    assert replies.room(long).header > 10 * 10_000_000
    assert replies.room(fed).payload > 10 * 10_000_000
    line = raw_answer(tensor(b"[1]", 8, b',"strings":["%s"]' % (b"x" * 10_000_000)))()
    assert judged(line, small) is None
    assert (result := judged(line, long)) is not None
    assert result.verdict is Verdict.PASS, result


def test_several_messages_may_come_at_once_and_in_pieces() -> None:
    data = b"".join(json.dumps(header).encode() + b"\n" + payload for header, payload in GOOD)
    for chunk in (1, 1000, len(data)):
        incoming, messages = Incoming(), []
        for begin in range(0, len(data), chunk):
            incoming.add(data[begin : begin + chunk])
            while (message := incoming.next(lambda: Room(0, 0))) is not None:
                messages.append(message)
        assert messages == GOOD, chunk
        assert not incoming.begun
