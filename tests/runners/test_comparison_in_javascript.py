# SPDX-License-Identifier: Apache-2.0
"""judge.mjs and compare.mjs: the verdicts of Python on right answers, on deliberately wrong ones, and on errors."""

from __future__ import annotations

import base64
import json
import subprocess
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnx_conformance.backends import protocol
from onnx_conformance.base.values import Drawn
from onnx_conformance.case.case import Outcome
from onnx_conformance.case.elements import is_float
from onnx_conformance.judging.judge import judge
from onnx_conformance.processes.replies import Answered, Refused
from paths import TESTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from onnx_conformance.case.case import Case

pytestmark = pytest.mark.slow
SCRIPT = TESTS / "runners" / "read_packs.mjs"
Array = np.ndarray[Any, Any]
STEPS = (1, -1, 3, 100)
"""By how many representable values an answer is changed."""


def moved(array: Array, steps: int) -> Array:
    """Return floats whose bits are changed, so that they are some representable values away."""
    size = array.dtype.itemsize
    if array.dtype.kind == "c":
        size //= 2
    codes = np.ascontiguousarray(array).reshape(-1).view(f"i{size}")
    return (codes + np.array(steps, codes.dtype)).view(array.dtype).reshape(array.shape)


def variants(array: Array) -> Iterator[Array]:
    """Yield answers that differ from the expected tensor in one way each."""
    yield array
    yield array.reshape(-1)
    yield np.zeros(array.shape, np.float64 if array.dtype == np.float32 else np.float32)
    if not array.size:
        return
    yield np.roll(array, 1, 0) if array.ndim else array
    yield np.flip(array)
    if is_float(array):
        yield from (moved(array, steps) for steps in STEPS)
        if array.dtype.kind == "c":
            yield array.conj()
            return
        for change in (
            lambda x: -x,
            lambda x: x + 1,
            lambda x: x * 1.005,
            lambda x: x + 0.2,
            np.abs,
            lambda x: x * np.nan,
        ):
            with np.errstate(all="ignore"):
                yield change(array.astype(np.float64)).astype(array.dtype)
    elif array.dtype.kind == "O":
        yield np.array([item + "x" for item in array.reshape(-1)], object).reshape(array.shape)
    elif array.dtype.kind in "biu":
        yield array ^ np.array(1, array.dtype)


def draws(drawn: Drawn, seed: int) -> Iterator[Array]:
    """Yield random answers, with and without the required properties."""
    rng, shape, dtype = np.random.default_rng(seed), drawn.example.shape, drawn.example.dtype
    low, high = (0 if drawn.low is None else drawn.low), (1 if drawn.high is None else drawn.high)
    mean, deviation = (0 if item is None else item for item in (drawn.mean, drawn.deviation))
    yield drawn.example
    for values in (
        rng.uniform(low, high, shape), rng.integers(0, 2, shape), rng.normal(np.mean(mean), np.mean(deviation), shape),
        rng.normal(np.mean(mean) + 1, np.mean(deviation), shape),
        rng.normal(np.mean(mean), np.mean(deviation) * 2, shape),
        np.full(shape, high + 1), np.full(shape, low - 1), *drawn.choices[:2],
    ):  # fmt: skip
        with np.errstate(all="ignore"):
            yield np.asarray(values).astype(dtype)
    if dtype.kind == "f":
        yield np.full(shape, np.nan, dtype)
    if len(drawn.choices) > 1:
        mixed = np.where(rng.integers(0, 2, shape), drawn.choices[0], drawn.choices[1]).astype(dtype)
        yield mixed
        yield moved(mixed, 2) if dtype.kind == "f" else mixed


def answers(case: Case) -> Iterator[list[Any]]:
    """Yield answers to a case: the right one, and others that differ in one output each."""
    expected = case.expected or (np.zeros((2, 3), np.float32),)
    right = [value.example if isinstance(value, Drawn) else value for value in expected]
    yield right
    yield right[:-1]
    yield [*right, np.zeros(1, np.float32)]
    for index, value in enumerate(expected):
        several = (
            draws(value, index)
            if isinstance(value, Drawn)
            else variants(value)
            if isinstance(value, np.ndarray)
            else ()
        )
        for other in several:
            yield [*right[:index], other, *right[index + 1 :]]
    for index, several_values in enumerate(case.allowance.any_of):
        for other in several_values.values if several_values else ():
            yield [*right[:index], other, *right[index + 1 :]]
    if case.allowance.any_order:
        axis = case.allowance.any_order.axis
        yield [np.flip(value, axis) for value in right]
        yield [np.flip(value) for value in right]


def line(case: Case, outputs: list[Any]) -> str:
    buffers: list[bytes] = []
    described = [protocol.encode(value, buffers) for value in outputs]
    told = {"id": case.id, "kind": "answer", "outputs": described}
    return json.dumps({**told, "bytes": base64.b64encode(b"".join(buffers)).decode()})


def judged_in_javascript(node: str, pack: Path, lines: Iterable[str]) -> list[dict[str, Any]]:
    """Return what judge.mjs says of each line, which is a case and the reply to it."""
    text = "".join(f"{each}\n" for each in lines)
    done = subprocess.run(
        [node, str(SCRIPT), "judge", str(pack)], input=text.encode(), capture_output=True, check=False
    )
    assert not done.returncode, done.stderr.decode()
    return [json.loads(each) for each in done.stdout.splitlines()]


def test_javascript_and_python_have_the_same_verdicts(node: str, pack: Path, cases: dict[str, Case]) -> None:
    asked = [(case, outputs) for case in cases.values() if not _is_large(case) for outputs in answers(case)]
    replies = judged_in_javascript(node, pack, (line(case, outputs) for case, outputs in asked))
    verdicts, unknown = Counter[str](), Counter[str]()
    for (case, outputs), told in zip(asked, replies, strict=True):
        if "notJudged" in told:
            unknown[told["notJudged"]] += 1
            continue
        with np.errstate(all="ignore"):  # Some answers are signalling NaNs.
            expected = judge(case, "any", Answered(tuple(outputs), 0.1))
        assert told["verdict"] == expected.verdict, (case.id, outputs, case.expected, told["message"], expected.message)
        verdicts[told["verdict"]] += 1
    assert set(verdicts) >= {
        "pass", "wrong_value", "wrong_type", "wrong_shape", "wrong_count", "lenient", "accepted_invalid", "unspecified"
    }  # fmt: skip
    assert verdicts["pass"] > 300 < verdicts["wrong_value"], verdicts
    assert {name.partition(" of ")[0] for name in unknown} <= {"a map", "elements"}, unknown
    tolerances = [case.allowance for case in cases.values()]
    assert all(
        any(getattr(item, name) for item in tolerances)
        for name in ("ulp", "rtol", "atol", "signed_zero", "interval", "sums")
    )
    assert any(case.outcome is Outcome.PROPERTY for case in cases.values())


def test_javascript_and_python_have_the_same_verdicts_on_errors(node: str, pack: Path, cases: dict[str, Case]) -> None:
    asked = [(case, reason) for case in cases.values() for reason in (None, "no kernel for it")]
    lines = (
        json.dumps({"id": case.id, "kind": "refused", "error": "Error", "message": "no", "reason": reason, "bytes": ""})
        for case, reason in asked
    )
    verdicts = Counter[tuple[str, str]]()
    for (case, reason), told in zip(asked, judged_in_javascript(node, pack, lines), strict=True):
        expected = judge(case, "any", Refused("Error", "no", reason, 0.1))
        assert (told["verdict"], told["message"]) == (expected.verdict, expected.message), (case.id, reason)
        verdicts[told["verdict"], case.force if reason is None else "reported"] += 1
    # A rule that permits the rejection makes it one of missing support, as if the adapter had reported that.
    assert verdicts["unsupported", "optional"] > 0 < verdicts["unsupported", "reported"], verdicts
    assert verdicts["pass", "must"] > 0 < verdicts["refused", ""], verdicts
    assert not verdicts["refused", "optional"], verdicts


def _is_large(case: Case) -> bool:
    return any(isinstance(value, np.ndarray) and value.size > 3000 for value in case.expected or ())
