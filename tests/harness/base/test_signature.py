# SPDX-License-Identifier: Apache-2.0
"""The place at which the process of a runtime ended."""

from __future__ import annotations

import pytest

from onnx_conformance.base.signature import place_of
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.minimize.cause import cause
from onnx_conformance.suites.lookup import find_case
from runs import result

PANIC = (
    "thread '<unnamed>' (16904) panicked at hir/src/reduce.rs:124:63:\ncalled `unwrap()`\npanicked at /rustc/b/x.rs:1:2"
)
ABORT = "terminate called after throwing an instance of 'E'\n  what():  the axis  is 7\n"


@pytest.mark.parametrize(
    ("stderr", "place"),
    [
        (PANIC, "hir/src/reduce.rs:124"),
        ("panicked at /rustc/b/library/x.rs:1:2", ""),
        ("python: /build/src/pool.cc:77: void f(): Assertion `a > 0' failed.", "pool.cc:77"),
        ("loaded from /build/src/pool.cc:77", ""),
        (ABORT, "the axis is 7"),
        (f"{PANIC}\nended at: step_3, after an error\n", "step_3, after an error"),
        ("terminate called without an active exception", ""),
        ("", ""),
    ],
)
def test_the_place_of_a_crash(stderr: str, place: str) -> None:
    assert place_of(result(verdict=Verdict.CRASH, stderr=stderr)) == place
    assert not place_of(result(verdict=Verdict.REFUSED, stderr=stderr))


def test_crashes_at_two_places_have_two_causes() -> None:
    case = find_case("ai.onnx/Split/18/uneven_two")
    one, other = (result(verdict=Verdict.CRASH, stderr=text) for text in (PANIC, PANIC.replace("124", "99")))
    assert cause(case, one) != cause(case, other)
    assert cause(case, one) == cause(case, result(verdict=Verdict.CRASH, stderr=PANIC.replace("16904", "3")))
