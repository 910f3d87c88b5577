# SPDX-License-Identifier: Apache-2.0
"""A small pack with cases of every kind of value and tolerance, for the modules of runners/browser."""

from __future__ import annotations

import itertools
import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest
from onnx import TensorProto, helper

from onnx_conformance.backends.protocol import element_type_named, numpy_dtype
from onnx_conformance.base.verdict import split_operator
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.case.lane_sums import LaneSums
from onnx_conformance.declare import AnyOf, Order
from onnx_conformance.declare.clause import Force
from onnx_conformance.generation import plans
from onnx_conformance.run import pack as packing
from onnx_conformance.specification import registry
from onnx_conformance.suites.pack_file import PackFile
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from onnx_conformance.base.values import Value
    from onnx_conformance.base.verdict import Unreadable

ALL_FORMS = "ai.onnx/Split/18"
OPS = (
    ALL_FORMS, "ai.onnx/SplitToSequence/24", "ai.onnx/Unique/11", "ai.onnx/TopK/24", "ai.onnx/Multinomial/22",
    "ai.onnx/RandomNormal/22", "ai.onnx/Dropout/22", "ai.onnx/Bernoulli/22", "ai.onnx/Optional/15",
    "ai.onnx/Softmax/13", "ai.onnx/Floor/13", "ai.onnx/Gather/13", "ai.onnx/AveragePool/22", "ai.onnx/ArgMax/13",
    "ai.onnx/Sqrt/13", "ai.onnx.ml/DictVectorizer/1",
)  # fmt: skip
"""Operator versions whose plain cases have every kind of tolerance and many element types."""
MOST = 16
"""How many cases of an operator the pack has at most."""


def kind_of(case: Case) -> tuple[object, ...]:
    """Return the properties that a reader of packs must handle."""
    tolerance = case.allowance
    if case.outcome is Outcome.REJECTS:
        return (case.force,)
    return (
        case.outcome, case.form, case.element_type, bool(case.files), case.earlier is not None, bool(tolerance.ulp),
        tolerance.signed_zero, tolerance.interval, tolerance.sums is None, tolerance.bounds is None,
        [several and several.elementwise for several in tolerance.any_of], str(tolerance.any_order),
        case.name.startswith(("every", "nan", "ties")),
    )  # fmt: skip


def made() -> Iterator[Case]:
    """Yield cases with tolerances and types that no operator of `OPS` has."""
    x = np.array([[1, -0.0, 3e-5], [np.inf, np.nan, -2]], np.float32)
    wide = np.array([1 + 2j, -0.0 + 0j, complex(np.nan, 1), complex(1, -np.inf)], np.complex64)
    small = np.arange(-8, 7).astype(np.int8).astype(numpy_dtype(element_type_named("int4").number))
    brain = np.array([1, -0.0, np.nan, 300], np.float32).astype(numpy_dtype(element_type_named("bfloat16").number))
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
    graph = helper.make_graph(
        [helper.make_node("Anything", ["x"], ["y"])], "graph", [helper.make_value_info("x", tensor)],
        [helper.make_value_info("y", tensor)],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]).SerializeToString()
    rows: dict[str, tuple[list[Value], Allowance]] = {
        "relative": ([x], Allowance("near", rtol=0.01, atol=1e-6)),
        "relative_signed": ([x], Allowance("near", rtol=0.01, signed_zero=True, interval=(-3, 3))),
        "doubles": ([x.astype(np.float64)], Allowance("steps", ulp=3)),
        "halves": ([x.astype(np.float16)], Allowance("steps", ulp=1, interval=(-2, 1))),
        "brains": ([brain], Allowance("steps", ulp=1)),
        "complex": ([wide], Allowance("steps", ulp=2, signed_zero=True)),
        "narrow": ([small], Allowance("exact")),
        "longs": ([np.array([2**62 + 1, -(2**62)]), np.array([2**64 - 1], np.uint64)], Allowance("exact")),
        "words": ([np.array(["a", "", "\x00b", "\u00fc"], object)], Allowance("exact")),
        "open": ([x], Allowance("some", bounds=(np.where(np.isnan(x), np.inf, 0.5),))),
        "one_bound": ([x], Allowance("some", bounds=(np.array(0.25),))),
        "bound_by_row": ([x], Allowance("some", bounds=(np.array([[0.25], [np.inf]]),))),
        "whole": ([x], Allowance("any", any_of=(AnyOf(x, x[:1], x + 1),))),
        "elementwise": ([x], Allowance("any", ulp=1, any_of=(AnyOf(x, x + 1, elementwise=True),))),
        "rows_move": ([x.T.copy(), np.arange(3)], Allowance("set", any_order=Order(0, lanewise=False))),
        "lanes_move": ([x, x + 1], Allowance("set", signed_zero=True, any_order=Order(1, lanewise=True))),
        "sums": ([np.full((2, 4), 0.25, np.float32)], Allowance("sum", ulp=1e6, sums=LaneSums((1,), 1.0, 0.01))),
    }
    for name, (expected, allowance) in rows.items():
        yield Case(
            id=f"ai.onnx/Identity/25/{name}", operator="ai.onnx/Identity/25", model=model, inputs={"x": x},
            outputs=tuple(f"y{index}" for index in range(len(expected))), outcome=Outcome.VALUES,
            expected=tuple(expected), allowance=allowance, clauses=("Anything.",),
            force=Force.OPTIONAL if name == "narrow" else "",
        )  # fmt: skip


class Some:
    """The cases of `OPS`, one of each kind, and those of `made`."""

    name, makes, unreadable = "generated", False, list["Unreadable"]()

    def digest(self) -> str:
        return "some"

    def cases(self, selection: Selection) -> Iterator[Case]:
        del selection
        for operator in OPS:
            path, since = split_operator(operator)
            kinds: dict[str, Case] = {}
            for plan in plans.plans(registry.load().find(*path.split("/")), (since or 0,)):
                for case in itertools.islice(plans.delivered(plan), None if operator == ALL_FORMS else 1):
                    kinds.setdefault(str(kind_of(case)), case)
            yield from list(kinds.values())[:MOST]
        yield from made()


@pytest.fixture(scope="session")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("browser") / "some.pack"
    packing.write(Some(), Selection(), path, 1, lambda *_: None)  # type: ignore[arg-type] - no generated suite
    return path


@pytest.fixture(scope="session")
def cases(pack: Path) -> dict[str, Case]:
    return {case.id: case for case in PackFile(pack).cases(Selection())}


@pytest.fixture(scope="session")
def node() -> str:
    program = shutil.which("node")
    if program is None:
        pytest.skip("the modules of runners/browser are written in JavaScript, and there is no node to run them")
    return program
