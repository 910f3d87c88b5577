# SPDX-License-Identifier: Apache-2.0
"""Cases of several nodes: the expected outputs of a whole model, and how far an answer may be from them.

The oracles are evaluated one after the other. Each node may have an error within its operator's tolerance. Its result
may be rounded or not, because tools and runtimes compute several nodes at once. The model is therefore evaluated again
with such errors, drawn at random, in the output of every node. An answer may be as far from the expected one as the
results of these evaluations.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnx_conformance.base.values import Drawn
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import PLAIN, Case, Outcome
from onnx_conformance.case.elements import is_float
from onnx_conformance.case.external_data import loaded
from onnx_conformance.declare import EXACT, NoAnswer
from onnx_conformance.declare.rounding import nearest
from onnx_conformance.declare.type import Type
from onnx_conformance.specification import schema
from onnx_conformance.specification.element_types import element_type
from onnx_conformance.specification.evaluator import Evaluator, UndeclaredError
from onnx_conformance.specification.signature import type_of
from onnx_conformance.tolerance.allowance import of_answer, operand_types

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from onnx_conformance.base.values import Value
    from onnx_conformance.declare import Call, Op
    from onnx_conformance.specification.evaluator import Answer
    from onnx_conformance.specification.schema import OperatorVersion

Array = np.ndarray[Any, Any]

RUNS, QUICK_RUNS = 16, 4
"""How often a model is evaluated with errors; and for a lower limit."""
FACTOR = 3
"""The allowed deviation, as a multiple of the root mean square of the deviations. Errors are drawn uniformly from the
range of errors of a node, so their root mean square is 1/√3 of the largest. For a single node, this allows 1.7 times
its largest error."""
MOST_RELATIVE = 0.02
"""If the deviation is more than this fraction of the largest number of an output, rounding decides the answer."""
NARROW_RELATIVE = 0.2
"""The same limit for calculations in a narrower type."""
NARROW_FACTOR = 4.5
"""The same factor for calculations in a narrower type. There, every input has an error, too: of 100,000 elements, some
are off by nearly the sum of all errors, and some of the root mean squares are small by chance."""
OF_INPUTS = 1
"""The second number of the seeds for errors of inputs."""
NARROW_MOST = 1e4
"""The greatest number that converters to float16 do not change by default."""
MOVES_ONLY = "all its nodes only move or select data"
UNROUNDED = "its inputs of 16 bits may have been computed in a wider type and not rounded"
SEVERAL = "each node may have an error within its operator's tolerance, measured on the actual values"


class UndecidedError(Exception):
    """There is more than one right answer, because of rounding, random numbers or an undefined result in the text."""


class _Recorded(Evaluator):
    """An evaluator that records the largest errors of each node, and can add such errors to the outputs.

    Attributes:
        met: the operators and their versions, in the order of the nodes.
        may_err: by node, in the order in which they are evaluated, and by output: the largest error of each element.
        quick: whether few evaluations of each oracle are enough: the errors of nodes then are lower limits.
        draw: the source of errors; None while they are measured.
        moves: whether all nodes only moved data.
        narrow: the type in which nodes of wider types compute, too; None if each computes in its declared type.
    """

    def __init__(self, narrow: np.dtype[Any] | None = None, *, quick: bool = False) -> None:
        super().__init__()
        self.narrow, self.quick = narrow, quick
        self.met: dict[str, tuple[Op, OperatorVersion]] = {}
        self.may_err: list[list[Array | None]] = []
        self.draw: np.random.Generator | None = None
        self.moves = True
        self._place = 0

    def with_errors(self, seed: int) -> None:
        """Add random errors from now on."""
        self.draw, self._place = np.random.default_rng(seed), 0

    def applied(
        self,
        node: onnx.NodeProto,
        op: Op,
        version: OperatorVersion,
        inputs: Sequence[Any],
        attributes: Mapping[str, Any],
        nodes: Callable[[], Sequence[Call]],
    ) -> Answer:
        """Return the oracle's answer to one node; with errors, if `draw` is set."""
        answer = super().applied(node, op, version, inputs, attributes, nodes)
        if self.draw is None:
            self.met[str(version)] = (op, version)
            self.may_err.append(self._measured(op, version, inputs, attributes, answer))
            return answer
        self._place += 1
        if self._place > len(self.may_err):
            raise UndecidedError(f"how often {version} runs depends on how nodes round")
        pairs = zip(answer.outputs, self.may_err[self._place - 1], strict=True)
        return dataclasses.replace(answer, outputs=[self._erring(*pair) for pair in pairs])

    def _measured(
        self, op: Op, version: OperatorVersion, inputs: Sequence[Any], attributes: Mapping[str, Any], answer: Answer
    ) -> list[Array | None]:
        """Return the largest errors of the outputs of a node; None for an output without an error."""
        if any(isinstance(item, Drawn) for item in answer.outputs):
            raise UndecidedError(f"{version} draws at random")
        if answer.any_order or any(item is not None for item in (*answer.any_of, *answer.open)):
            raise UndecidedError(f"{version} has several right answers here")
        if self.narrow is not None:
            for value in answer.outputs:
                _check_range(value, self.narrow)
        if op.compare == EXACT:
            return [None] * len(answer.outputs)
        self.moves = False
        if op.compare.exact and self.narrow is None:
            return [_rounded_away(*pair) for pair in zip(answer.outputs, answer.exact, strict=False)]
        named = list(range(len(answer.outputs)))
        allowance = of_answer(op.compare, answer, operand_types(op, version, inputs, attributes), named)
        errors = [
            _greatest_error(value, allowance, index, quick=self.quick) for index, value in enumerate(answer.outputs)
        ]
        return errors if self.narrow is None else [_narrowed(error, self.narrow) for error in errors]

    def _erring(self, value: Any, may_err: Array | None) -> Any:  # noqa: ANN401 - any output
        """Return an output with a random error that is at most `may_err`."""
        if may_err is None:
            return value
        assert self.draw is not None  # noqa: S101 - see applied
        if value.shape != may_err.shape:
            raise UndecidedError("a shape depends on how nodes round")
        with np.errstate(all="ignore"):
            wide, error = value.astype(np.float64), self.draw.uniform(-1, 1, value.shape)
            error *= may_err
            finite = np.isfinite(wide)
            return nearest(np.asarray(wide + (error if finite.all() else np.where(finite, error, 0))), value.dtype)


def _rounded_away(value: Any, exact: Any) -> Array | None:  # noqa: ANN401 - any output
    """Return the largest error of an output that is exact except for its rounding.

    A runtime that computes several nodes at once does not round it. The error is one unit in the last place, because
    half a unit would mostly vanish when the value is rounded again.

    Raises:
        UndecidedError: an element overflows, which does not happen if several nodes are computed at once.
    """
    if not isinstance(value, np.ndarray) or not is_float(value) or value.dtype.kind == "c":
        return None
    wide, exact = value.astype(np.float64), np.asarray(exact, np.float64)
    if (np.isfinite(exact) & ~np.isfinite(wide)).any():
        raise UndecidedError(f"a number overflows {value.dtype} if it is rounded to it")
    with np.errstate(all="ignore"):
        if value.dtype == np.float64:  # There is no wider type here that shows the rounding.
            return np.where(np.isfinite(wide), _unit(value), 0)
        return np.where(np.isfinite(wide) & (exact != wide), _unit(value), 0)


def _unit(value: Array) -> Array:
    """Return a unit in the last place of each element, for its binade or the next one."""
    limits = ml_dtypes.finfo(value.dtype)  # type: ignore[no-untyped-call]
    wide = np.abs(value.astype(np.float64))
    return np.where(wide > 0, np.maximum(wide * float(limits.eps), float(limits.smallest_subnormal)), 0)


def _greatest_error(value: Any, allowance: Allowance, index: int, *, quick: bool) -> Array | None:  # noqa: ANN401 - any output
    """Return the largest error of an output of a node that computes: at least a unit in the last place.

    Half a unit would mostly vanish when the value is rounded again.
    """
    if not isinstance(value, np.ndarray) or not is_float(value) or value.dtype.kind == "c":
        return None
    with np.errstate(all="ignore"):
        wide = np.abs(value.astype(np.float64))
        may_err = np.maximum(_unit(value) * max(allowance.ulp, 1), allowance.atol + allowance.rtol * wide)
    bound = _lower_limit(allowance, index) if quick else allowance.bound(index)
    return np.asarray(may_err if bound is None else np.maximum(may_err, bound))


def _lower_limit(allowance: Allowance, index: int) -> Array | None:
    """Return a lower limit of the bounds of an output, from QUICK_RUNS evaluations; None if it has none."""
    limit = next(itertools.islice(allowance.limits_of(index), 1, None), None)
    return allowance.bound(index) if limit is None else limit


def _narrowed(error: Array | None, narrow: np.dtype[Any]) -> Array | None:
    """Return the largest error of a float32 output that is computed in a narrower type."""
    if error is None:
        return None
    info = ml_dtypes.finfo(narrow)  # type: ignore[no-untyped-call]
    return np.asarray(error * float(info.eps) / np.finfo(np.float32).eps + float(info.smallest_normal))


def _check_range(value: Any, narrow: np.dtype[Any]) -> None:  # noqa: ANN401 - any value
    """Raise UndecidedError if a value is outside the range that converters keep in a narrower type."""
    if isinstance(value, np.ndarray) and is_float(value):
        size = np.abs(value.astype(np.complex128))
        if not np.isfinite(size).all() or (size > NARROW_MOST).any():
            raise UndecidedError(f"{narrow} cannot represent all of its numbers")


def in_narrower(case: Case, narrow: np.dtype[Any]) -> Allowance:
    """Return how far the answer of a case may be from the expected one if it is computed in a narrower type.

    The inputs, the constants and the results of each node are rounded to that type.

    Raises:
        UndecidedError: the narrower type cannot represent its numbers, or rounding to that type decides the answer.
    """
    model = onnx.load_from_string(case.model)
    held = {item.name: loaded(item, case.files) or item for item in model.graph.initializer}
    inputs = {**{name: numpy_helper.to_array(item) for name, item in held.items()}, **case.inputs}
    for value in inputs.values():
        _check_range(value, narrow)
    evaluator = _Recorded(narrow)
    try:
        expected = _checked(evaluator.model(model, inputs))
        limits = ml_dtypes.finfo(narrow)  # type: ignore[no-untyped-call]
        half, least = float(limits.eps) / 2, float(limits.smallest_subnormal) / 2

        def rounded(seed: int) -> dict[str, Value]:
            # The errors of the nodes are drawn with the seed alone. From the same seed, inputs would have the same
            # random numbers as nodes, and the errors of both could cancel.
            draw = np.random.default_rng([seed, OF_INPUTS])

            def off(value: Array) -> Array:
                if seed == 0:  # Numbers that differ may be equal after they are rounded, but not after random errors.
                    return np.asarray(value.astype(narrow), value.dtype)
                most = np.where(value == 0, 0, np.maximum(np.abs(value) * half, least))
                return np.asarray(value + most * draw.uniform(-1, 1, value.shape), value.dtype)

            return {
                name: off(value) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value
                for name, value in inputs.items()
            }

        deviations = _deviations(evaluator, model, rounded, expected, NARROW_RELATIVE)
    except (NoAnswer, UndeclaredError) as error:
        raise UndecidedError(str(error)) from error
    return Allowance(f"computed in {narrow}: {SEVERAL}", bounds=_bounds(expected, deviations, NARROW_FACTOR))


def composed(
    case_id: str,
    operator: str,
    model: onnx.ModelProto,
    inputs: Mapping[str, Value],
    *,
    form: str = PLAIN,
    clauses: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Case:
    """Return the case of a model of several nodes.

    Args:
        case_id: the id of the case.
        operator: the operator version to whose slice the case belongs.
        model: a model with the inputs `inputs`. Outputs declared without a type get the type of their expected value.
        inputs: the inputs by name, in the graph's order.
        form: how the case is delivered.
        clauses: the sentences; if empty, the first sentence of each operator version in the model.
        notes: notes that are shown with the case.

    Raises:
        UndecidedError: the text forbids the model or does not define its result, or rounding decides its answer.
    """
    evaluator = _Recorded()
    expected, allowance = _evaluated(evaluator, model, inputs)
    for item in model.graph.output:
        if not item.HasField("type"):
            declare(item, expected[item.name])
    return Case(
        id=case_id,
        operator=operator,
        model=model.SerializeToString(),
        inputs=dict(inputs),
        outputs=tuple(expected),
        outcome=Outcome.VALUES,
        expected=tuple(expected.values()),
        allowance=allowance,
        clauses=tuple(clauses) or sentences(evaluator.met.values()),
        form=form,
        readings=tuple(sorted(reading.number for reading in evaluator.rests_on)),
        notes=tuple(notes),
    )


def of_model(model: onnx.ModelProto, inputs: Mapping[str, Value], *, quick: bool = False) -> Allowance:
    """Return how far an answer to a model of several nodes may be from the oracle's.

    Args:
        model: the model.
        inputs: its inputs by name.
        quick: whether a lower limit is enough, which few evaluations of the oracles show.

    Raises:
        UndecidedError: under the conditions of `composed`.
    """
    return _evaluated(_Recorded(quick=quick), model, inputs)[1]


def _evaluated(
    evaluator: _Recorded, model: onnx.ModelProto, inputs: Mapping[str, Value]
) -> tuple[dict[str, Value], Allowance]:
    """Return the outputs of a model, and how far an answer may be from them."""
    try:
        expected = _checked(evaluator.model(model, inputs))
        if evaluator.moves:
            return expected, Allowance(MOVES_ONLY, signed_zero=True)
        deviations = _deviations(evaluator, model, lambda _: inputs, expected)
    except UndecidedError:
        raise
    except Exception as error:  # An oracle may assume properties of declared calls, such as a rank.
        raise UndecidedError(f"{type(error).__name__}: {error}") from error
    return expected, Allowance(SEVERAL, bounds=_bounds(expected, deviations))


def of_unrounded(
    model: onnx.ModelProto, inputs: Mapping[str, Value], unrounded: Iterable[str]
) -> tuple[dict[str, Value], Allowance]:
    """Return the outputs of a model, and how far an answer may be from them if some inputs were not rounded.

    A runtime without kernels of 16 bits computes in a wider type, and rounds only the values that somebody asks for.

    Args:
        model: the model.
        inputs: its inputs by name.
        unrounded: the names of inputs that the runtime may have in a wider type.

    Raises:
        UndecidedError: under the conditions of `composed`.
    """
    evaluator, names = _Recorded(), set(unrounded)

    def drawn(seed: int) -> Mapping[str, Value]:
        generator = np.random.default_rng(seed)

        def moved(value: Array) -> Array:
            with np.errstate(all="ignore"):
                wide = value.astype(np.float64)
                error = np.where(np.isfinite(wide), _unit(value), 0) * generator.uniform(-1, 1, wide.shape)
                return nearest(np.asarray(wide + error), value.dtype)

        return {name: moved(np.asarray(value)) if name in names else value for name, value in inputs.items()}

    try:
        expected = _checked(evaluator.model(model, inputs))
        deviations = _deviations(evaluator, model, drawn, expected, most=1.0)
    except UndecidedError:
        raise
    except Exception as error:  # An oracle may assume properties of declared calls, such as a rank.
        raise UndecidedError(f"{type(error).__name__}: {error}") from error
    return expected, Allowance(UNROUNDED, bounds=_bounds(expected, deviations))


def tensor_info(name: str, value: Array) -> onnx.ValueInfoProto:
    """Return the declaration of a tensor: its type and shape."""
    return helper.make_tensor_value_info(name, element_type(value.dtype).number, value.shape)


def declares_tensor(declared: Iterable[onnx.ValueInfoProto], name: str) -> bool:
    """Return whether a value is declared as a tensor; an optional that contains a tensor is not."""
    return any(item.name == name and item.type.HasField("tensor_type") for item in declared)


def first_tensor(case: Case, model: onnx.ModelProto) -> Array | None:
    """Return the first output of a case, or None if it is random or the model does not declare it as a tensor."""
    value = case.expected[0] if case.expected else None
    if not isinstance(value, np.ndarray) or not declares_tensor(model.graph.output, case.outputs[0]):
        return None
    return value


def declare(output: onnx.ValueInfoProto, value: Value) -> None:
    """Declare an output with the type and shape of its value.

    Raises:
        UndecidedError: the value does not show its type.
    """
    if isinstance(value, np.ndarray):
        output.CopyFrom(tensor_info(output.name, value))
        return
    type_ = type_of(value)
    if not type_:
        raise UndecidedError(f"the value of {output.name} does not show its type")
    output.type.CopyFrom(schema.type_proto(Type.parse(type_)))


def sentences(versions: Iterable[tuple[Op, OperatorVersion]]) -> tuple[str, ...]:
    """Return the first sentence of each operator version."""
    found = []
    for op, version in versions:
        found += [clause.text for clause in op.clauses if clause.in_force(version.since)][:1]
    return tuple(dict.fromkeys(found))


def _checked(outputs: Mapping[str, Any]) -> dict[str, Value]:
    """Return the outputs.

    Raises:
        UndecidedError: an output is an empty optional, which a tool may remove.
    """
    if any(value is None for value in outputs.values()):
        raise UndecidedError("an output has no value")
    return dict(outputs)


def _deviations(
    evaluator: _Recorded,
    model: onnx.ModelProto,
    inputs: Callable[[int], Mapping[str, Value]],
    expected: Mapping[str, Value],
    most: float = MOST_RELATIVE,
) -> list[dict[str, Value]]:
    """Return the outputs of the model with errors in every node."""
    found = []
    for seed in range(QUICK_RUNS if evaluator.quick else RUNS):
        evaluator.with_errors(seed)
        found.append(_checked(evaluator.model(model, inputs(seed))))
    for name, value in expected.items():
        others = [other[name] for other in found]
        if not isinstance(value, np.ndarray):
            if not all(_alike_inside(value, other, most) for other in others):
                raise UndecidedError(f"{name} depends on how its nodes round")
        elif not all(_alike(value, other, most) for other in others):
            raise UndecidedError(f"{name} depends on how its nodes round")
    return found


def _alike_inside(one: Any, other: Any, most: float) -> bool:  # noqa: ANN401 - any two outputs
    """Return whether two containers have the same structure, and nearly the same tensors."""
    if isinstance(one, list):
        return len(one) == len(other) and all(_alike_inside(a, b, most) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict):
        return list(one) == list(other) and all(_alike_inside(one[key], other[key], most) for key in one)
    return _alike(one, other, most)


def _tensors(value: Any) -> list[Array]:  # noqa: ANN401 - any output
    """Return the tensors in a container, in their order."""
    if isinstance(value, list | dict):
        return [item for inner in (value.values() if isinstance(value, dict) else value) for item in _tensors(inner)]
    return [np.asarray(value)]


def _alike(one: Array, other: Any, most: float) -> bool:  # noqa: ANN401 - any output
    """Return whether two tensors are the same except for small differences of floating-point numbers."""
    if one.shape != other.shape:
        return False
    if not is_float(one):
        return bool(np.array_equal(one, other))
    a, b = one.astype(np.complex128), other.astype(np.complex128)
    finite = np.isfinite(a)
    if not np.array_equal(finite, np.isfinite(b)) or not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return False
    largest = float(np.max(np.abs(a[finite]), initial=0))
    return bool((np.abs(a[finite] - b[finite]) <= most * largest).all())


def _bounds(
    expected: Mapping[str, Value], deviations: Sequence[Mapping[str, Value]], factor: float = FACTOR
) -> tuple[Array, ...] | None:
    """Return how far each element of each output may be from the expected one."""
    bounds = []
    for name, value in expected.items():
        if isinstance(value, np.ndarray):
            bounds.append(_bound(value, [np.asarray(other[name]) for other in deviations], factor))
            continue
        others = [_tensors(other[name]) for other in deviations]
        # All tensors of a container have the bound of the one with the largest errors.
        found = [_bound(item, [other[index] for other in others], factor) for index, item in enumerate(_tensors(value))]
        bounds.append(np.asarray(max((float(np.max(item, initial=0.0)) for item in found), default=0.0)))
    return tuple(bounds)


def _bound(value: Array, others: Sequence[Array], factor: float) -> Array:
    """Return how far each element of a tensor may be from the expected one."""
    if not is_float(value):
        return np.zeros(value.shape)
    wide = value.astype(np.complex128)
    with np.errstate(all="ignore"):
        squares = [np.abs(other.astype(np.complex128) - wide) ** 2 for other in others]
        return np.asarray(np.nan_to_num(factor * np.sqrt(np.mean(squares, axis=0)), nan=0.0, posinf=0.0))
