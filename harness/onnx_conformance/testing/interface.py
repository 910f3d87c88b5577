# SPDX-License-Identifier: Apache-2.0
"""The Python interface: cases, the verdict on the outputs of a runtime, and the verification of a model.

    from onnx_conformance import cases, judge

    for case in cases(op="Split/18"):
        outputs = my_runtime(case.model, case.inputs)       # bytes of a ModelProto, arrays by name
        print(case.id, judge(case, outputs).verdict)

    from onnx_conformance import verify

    done = verify("model.onnx", "onnxruntime", {"x": x})    # The inputs are arrays by name; others are drawn.
    assert done.ok, done.backends[0].first

May import everything except `onnx_conformance.cli`; only `onnx_conformance` imports it, when one of its names is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.judging import judge as judging
from onnx_conformance.processes.replies import Answered, Refused
from onnx_conformance.suites.chosen import selection_of
from onnx_conformance.suites.lookup import check_readable, check_selection, open_suite
from onnx_conformance.testing.reference_evaluator import ReferenceEvaluator
from onnx_conformance.verification.verified import Verified
from onnx_conformance.verification.verify import verify

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from onnx_conformance.base.selection_options import Choice
    from onnx_conformance.base.values import Value
    from onnx_conformance.suites.selection import Selection
    from onnx_conformance.suites.suite import Suite

__all__ = ["Case", "Outcome", "ReferenceEvaluator", "Result", "Verdict", "Verified", "cases", "judge", "verify"]


def cases(*, suite: str = "generated", **choice: Unpack[Choice]) -> Iterator[Case]:
    """Return an iterator over cases; each is generated or read on demand.

    In a Case, `model` is a serialized ModelProto, `inputs` are arrays by name, and `outputs` are the names of the
    graph's outputs. `outcome` is the expected outcome. `values`: `expected` has an array for each output, and
    `allowance` is the tolerance. `rejects`: the model is invalid. `property`: the outputs are random. `unspecified`:
    the specification does not decide.

    Args:
        suite: generated, official, or the path of a folder in ONNX's test-data layout.
        choice: the options of `run` that select cases, with the same values: op, opsets, version, model, case, tag,
            form, type, no_containers, core and at_most.

    Raises:
        HarnessError: there is no such suite or operator, a value cannot be read, or a case of a folder cannot be read.
    """
    source = open_suite(suite)
    selection = selection_of(choice)
    check_selection(source, selection)
    return _readable(source, selection)


def _readable(source: Suite, selection: Selection) -> Iterator[Case]:
    yield from source.cases(selection)
    check_readable(source)


def judge(case: Case, answer: Sequence[Value] | BaseException, *, backend: str = "mine") -> Result:
    """Return the result of a case for the outputs of a runtime.

    Args:
        case: one of `cases`.
        answer: the values of `case.outputs`, in that order: arrays whose dtype is the element type (from ml_dtypes if
            numpy lacks it), lists for sequences, dicts for maps, None for an empty optional; or the exception that the
            runtime raised.
        backend: the name of the runtime in the result.
    """
    if isinstance(answer, BaseException):
        return judging.judge(case, backend, Refused(type(answer).__name__, str(answer), None, None))
    return judging.judge(case, backend, Answered(tuple(answer), None))
