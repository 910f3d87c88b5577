# SPDX-License-Identifier: Apache-2.0
"""The end of a script of `repro`: code that compares an answer with the expected values, without this project.

It is assembled from pieces, so a script contains only the lines that its case needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.base.values import Drawn
from onnx_conformance.case.case import Outcome
from onnx_conformance.case.elements import is_float
from onnx_conformance.specification.element_types import element_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.case import Case

Array = np.ndarray[Any, Any]
LAST_PLAIN = 13
"""Numpy itself has the element types up to this number (uint64)."""

PIECES = {
    "same": """
assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    assert isinstance(got, (np.ndarray, np.generic)), f"outputs[{index}]: a tensor expected, {got} got"
    np.testing.assert_array_equal(got, wanted, f"outputs[{index}]", strict=True)
""",
    "same_zeros": """\
    if wanted.dtype.kind == "f":  # +0 and -0 differ.
        signs = (np.signbit(np.asarray(array)[wanted == 0]) for array in (got, wanted))
        np.testing.assert_array_equal(*signs, f"outputs[{index}], signs of zeros")
""",
    "check_drawn": """

def check_drawn(where, wanted, got):
    name = {"float32": "float", "float64": "double"}.get(got.dtype.name, got.dtype.name)
    assert name == wanted["type"], f"{where}: {wanted['type']} expected, {name} got"
    assert list(got.shape) == wanted["shape"], f"{where}: shape {wanted['shape']} expected, {got.shape} got"
    values = got.astype(float)
    if "same_as" in wanted:
        assert (got == outputs[wanted["same_as"]]).all(), f"{where}: other values for the same seed"
    for limit, beyond in (("low", np.less), ("high", np.greater)):
        if limit in wanted:
            wrong = beyond(values, float(np.asarray(wanted[limit]).astype(got.dtype)))
            assert not wrong.any(), f"{where}: {values[wrong]} beyond {limit} {wanted[limit]}"
    if "choices" in wanted and "chosen_by" in wanted:
        choices = np.where(outputs[wanted["chosen_by"]], wanted["choices"][1], wanted["choices"][0])
        near = np.isclose(values, choices, rtol=8 * EPS.get(got.dtype.name, 0))
        assert near.all(), f"{where}: {choices} expected, {got} got"
    elif "choices" in wanted:
        near = [np.isclose(values, choice, rtol=8 * EPS.get(got.dtype.name, 0)) for choice in wanted["choices"]]
        assert np.logical_or.reduce(near).all(), f"{where}: one of {wanted['choices']} expected, {got} got"
    if "mean" in wanted and "deviation" in wanted:
        deviation = np.sqrt(np.square(np.broadcast_to(wanted["deviation"], got.shape)).sum())
        off = abs((values - wanted["mean"]).sum()) / deviation if deviation else 0
        assert off <= 6, f"{where}: the mean is {values.mean()}, {off:.3g} sigma from the expected one"
        if "kurtosis" in wanted:
            ratio = np.square(values - wanted["mean"]).sum() / deviation**2
            allowed = 6 * np.sqrt((wanted["kurtosis"] - 1) / got.size)
            assert abs(ratio - 1) <= allowed, f"{where}: {ratio} times the expected variance"
""",
    "check": """

def check(where, wanted, got, bound=0):
""",
    "drawn": """\
    if isinstance(wanted, tuple):
        return check_drawn(where, wanted[1], np.asarray(got))
""",
    "sequence": """\
    if isinstance(wanted, list):
        assert isinstance(got, (list, tuple)), f"{where}: a sequence expected, {type(got).__name__} got"
        assert len(wanted) == len(got), f"{where}: {len(wanted)} elements expected, {len(got)} got"
        for index, (expected, element) in enumerate(zip(wanted, got)):
            check(f"{where}[{index}]", expected, element, bound)
        return
""",
    "map": """\
    if isinstance(wanted, dict):
        assert isinstance(got, dict) and wanted.keys() == got.keys(), f"{where}: {wanted} expected, {got} got"
        for key in wanted:
            check(f"{where}[{key!r}]", wanted[key], got[key], bound)
        return
""",
    "none": """\
    if wanted is None:
        assert got is None, f"{where}: an empty optional expected, {got} got"
        return
""",
    "tensor": """\
    assert not isinstance(got, (list, dict)) and got is not None, f"{where}: a tensor expected, {got} got"
    got = np.asarray(got)
    assert wanted.dtype == got.dtype, f"{where}: {wanted.dtype} expected, {got.dtype} got"
    assert wanted.shape == got.shape, f"{where}: shape {wanted.shape} expected, {got.shape} got"
    a, b, bound = (np.ravel(array) for array in (wanted, got, np.broadcast_to(bound, wanted.shape)))
""",
    "complex": """\
    if a.dtype.kind == "c":  # Its parts are compared.
        a, b, bound = a.view(a.real.dtype), b.view(b.real.dtype), np.repeat(bound, 2)
""",
    "differs": """\
    differs = ~((a == b) | ((a != a) & (b != b)))
""",
    "near": """\
    if "float" in a.dtype.name:
        with np.errstate(all="ignore"):
            wide, far = np.abs(a.astype(float)), np.abs(a.astype(float) - b.astype(float))
            near = far <= np.maximum(ATOL + (RTOL + ULP * EPS.get(a.dtype.name, 0)) * wide, bound)
        differs &= ~(near & np.isfinite(far))
""",
    "zeros": """\
    if "float" in a.dtype.name:
        differs |= (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))  # +0 and -0 differ.
""",
    "interval": """\
    if "float" in a.dtype.name:
        wide, (low, high) = b.astype(float), np.array(INTERVAL).astype(b.dtype).astype(float)
        differs |= np.isfinite(wide) & ((wide < low) | (wide > high))  # The function has no such values.
""",
    "open": """\
    differs &= np.isfinite(bound)  # Elements without a bound may have any value.
""",
    "count": """\
    count = int(differs.sum())
    assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"
""",
    "sums": """\
    if where == f"outputs[{SUMMED}]":
        known = np.isfinite(wanted.astype(float)) & np.isfinite(bound).reshape(wanted.shape)
        with np.errstate(all="ignore"):
            sums = got.astype(float).sum(AXES_OF_SUMS, keepdims=True)
            far = np.where(known.all(AXES_OF_SUMS, keepdims=True), np.abs(sums - TOTAL), 0)
        assert not (far > WITHIN).any(), f"{where}: sums of {TOTAL:g} expected, one is {far.max():.3g} off"
""",
    "accepts": """

def accepts(index, wanted):
    try:
        check(f"outputs[{index}]", wanted, outputs[index])
    except AssertionError:
        return False
    return True
""",
    "any_of": """

for index, others in ANY_OF.items():  # The text allows these values as well.
    if index < len(outputs):
        expected[index] = next((other for other in others if accepts(index, other)), expected[index])
""",
    "any_element_of": """

for index, others in ANY_ELEMENT_OF.items():  # The text allows these elements as well.
    for other in others:
        if index < len(outputs) and np.shape(outputs[index]) == other.shape:
            same = (outputs[index] == other) | ((outputs[index] != outputs[index]) & (other != other))  # NaN is NaN.
            expected[index] = np.where(same, other, expected[index])
""",
    "any_order": """

def sorted_rows(arrays):
    keys = sorted(arrays, key=lambda array: array.dtype.kind not in "biu")  # Integers first.
    keys = [key if key.dtype.isbuiltin == 1 else key.astype(float) for key in keys]
    if LANEWISE:
        order = np.lexsort([np.moveaxis(key, AXIS, 0) for key in reversed(keys)], axis=0)
        return [np.take_along_axis(array, np.moveaxis(order, 0, AXIS), AXIS) for array in arrays]
    columns = [column for key in keys for column in np.moveaxis(key, AXIS, 0).reshape(key.shape[AXIS], -1).T]
    order = np.lexsort(columns[::-1]) if columns else slice(None)
    return [np.moveaxis(np.moveaxis(array, AXIS, 0)[order], 0, AXIS) for array in arrays]


outputs = [np.asarray(output) for output in outputs]
if [array.shape for array in outputs] == [array.shape for array in expected]:  # The text does not define the order.
    expected, outputs = sorted_rows(expected), sorted_rows(outputs)
""",
    "compare": """

assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got)
""",
    "compare_within_bounds": """

assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got, BOUNDS[index])
""",
    "end": """\
print("as expected")
""",
}
"""The pieces by name, in their order in a script."""


def pieces(case: Case) -> tuple[str, ...]:
    """Return the names of the pieces that compare an answer with the expected values; empty without such values."""
    if case.expected is None or case.outcome is Outcome.REJECTS:
        return ()
    free = case.allowance.any_order is not None or bool(case.allowance.any_of)
    if all(map(_comparable_by_numpy, case.expected)) and not _tolerant(case) and not free:
        return ("same", *(("same_zeros",) if _zeros_matter(case) else ()), "end")
    values = [inner for value in case.expected for inner in _every(value)]
    drawn = any(isinstance(value, Drawn) for value in values)
    tensors = [value for value in values if isinstance(value, np.ndarray)]
    needed = {
        "check_drawn": drawn,
        "check": True,
        "drawn": drawn,
        "sequence": any(isinstance(value, list) for value in values),
        "map": any(isinstance(value, dict) for value in values),
        "none": any(value is None for value in values),
        **dict.fromkeys(("tensor", "differs", "count"), bool(tensors)),
        "complex": any(tensor.dtype.kind == "c" for tensor in tensors),
        "near": any(map(is_float, tensors)) and _tolerant(case),
        "zeros": _zeros_matter(case),
        "interval": case.allowance.interval is not None and any(map(is_float, tensors)),
        "sums": case.allowance.sums is not None,
        "open": any(np.isinf(bound).any() for bound in case.allowance.bounds or ()),
        "accepts": any(item is not None and not item.elementwise for item in case.allowance.any_of),
        "any_of": any(item is not None and not item.elementwise for item in case.allowance.any_of),
        "any_element_of": any(item is not None and item.elementwise for item in case.allowance.any_of),
        "any_order": case.allowance.any_order is not None,
        "compare": case.allowance.bounds is None,
        "compare_within_bounds": case.allowance.bounds is not None,
        "end": True,
    }
    return tuple(name for name in PIECES if needed.get(name))


def settings(case: Case, names: tuple[str, ...], literal: Callable[[Any], str]) -> Iterator[str]:
    """Yield the lines that define the constants of a case's pieces; `literal` writes an array."""
    allowance = case.allowance
    if "near" in names:
        yield f"RTOL, ATOL, ULP = {(allowance.rtol, allowance.atol, allowance.ulp)!r}"
    if "interval" in names:
        yield f"INTERVAL = {allowance.interval!r}"
    if allowance.sums is not None and "sums" in names:
        yield f"SUMMED, AXES_OF_SUMS = {allowance.sums.output}, {allowance.sums.axes!r}"
        yield f"TOTAL, WITHIN = {allowance.sums.total!r}, {allowance.sums.within!r}"
    if "near" in names or "check_drawn" in names:
        floats = {array.real.dtype for value in case.expected or () for array in arrays(value) if is_float(array)}
        eps = {dtype.name: float(ml_dtypes.finfo(dtype).eps) for dtype in floats}  # type: ignore[no-untyped-call]
        used = allowance.ulp or "check_drawn" in names
        yield f"EPS = {dict(sorted(eps.items())) if used else {}!r}  # One unit in the last place of 1."
    for name, elementwise in (("any_of", False), ("any_element_of", True)):
        if name in names:
            several = ((i, item) for i, item in enumerate(allowance.any_of) if item and item.elementwise is elementwise)
            rows = (f"{i}: [{', '.join(map(literal, item.values[1:]))}]" for i, item in several)
            yield f"{name.upper()} = {{{', '.join(rows)}}}"
    if allowance.any_order is not None:
        yield f"AXIS, LANEWISE = {allowance.any_order.axis}, {allowance.any_order.lanewise}"
    if "compare_within_bounds" in names:
        yield f"BOUNDS = [{', '.join(literal(np.asarray(bound)) for bound in allowance.bounds or ())}]"


def arrays(value: Value | Drawn) -> Iterator[Array]:
    """Yield every tensor of a value; for a random value, the tensor of its example."""
    for inner in _every(value):
        if isinstance(inner, Drawn):
            yield inner.example
        elif isinstance(inner, np.ndarray):
            yield inner


def _every(value: Any) -> Iterator[Any]:  # noqa: ANN401 - any value
    """Yield a value and all values within it."""
    yield value
    if isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _every(item)


def _comparable_by_numpy(value: Any) -> bool:  # noqa: ANN401 - any value
    return isinstance(value, np.ndarray) and element_type(value.dtype).number <= LAST_PLAIN and value.dtype.kind != "c"


def _tolerant(case: Case) -> bool:
    allowance = case.allowance
    return bool(allowance.rtol or allowance.atol or allowance.ulp or allowance.bounds is not None)


def _zeros_matter(case: Case) -> bool:
    """Return whether an answer may differ only in the sign of a zero."""
    every = (inner for value in case.expected or () for inner in _every(value))
    floats = (inner for inner in every if isinstance(inner, np.ndarray) and is_float(inner))
    return case.allowance.signed_zero and any((array == 0).any() for array in floats)
