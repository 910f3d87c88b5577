# SPDX-License-Identifier: Apache-2.0
"""Faults of kernels that depend on sizes: each damages the right answer to a call as such a kernel would."""

from __future__ import annotations

import dataclasses
import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.generation import plans
from onnx_conformance.specification import evaluator, registry, schema
from onnx_conformance.specification.signature import TypedValue, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_conformance.generation.deliveries import Plan

Array = np.ndarray[Any, Any]
LANES, BLOCK, PARTS = 8, 64, 4
"""The elements of a vector, the rows of a block, and the threads that share the work."""
SIXTEEN_BITS = 65_535
SHARED = 1024
"""Results of at least so many elements are divided among threads."""
SUMMED = 128
"""The number of products from which the faulty kernel adds in float16."""
MOST_SUMMED = 1100
"""Longer sums are not computed again, one product after the other."""
WORD, BYTES = 0x3A7B, (0x3A, 0xC5)
"""The value, or the pair of values, for which the result is wrong."""


def other(values: Array) -> Array:
    """Return another value for each value, which no rounding explains."""
    if values.dtype.kind == "b":
        return ~values
    if values.dtype.kind in "OU":
        return np.asarray(np.frompyfunc(lambda text: f"{text}0", 1, 1)(values), values.dtype)
    with np.errstate(all="ignore"):
        wide = values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)
        changed = np.where(np.isfinite(wide) & (wide != 0), wide * 1.25 + np.sign(wide), 1)
        result = changed.astype(values.dtype)
        same = result.astype(wide.dtype) == wide  # At the limit of a type, or in a narrow type.
        return np.asarray(np.where(same, np.zeros_like(result), result))


def _replaced(values: Array, places: Any) -> Array:  # noqa: ANN401 - any index
    damaged = values.copy()
    damaged[places] = other(values[places])
    return damaged


def tail(values: Array) -> Array | None:
    """Damage the elements behind the last whole vector of the innermost dimension, if there is a whole one."""
    length = values.shape[-1] if values.ndim else 0
    rest = length % LANES
    return _replaced(values, np.s_[..., length - rest :]) if length > LANES and rest else None


def beyond_16_bits(plan: Plan) -> list[Any] | None:
    """Damage everything after element 65,535: the index has 16 bits.

    If only the first input is so large, the kernel reads zeros in place of its other elements.
    """
    damaged = each_output(_beyond_16_bits)(plan)
    if damaged is not None:
        return damaged
    name, item = plan.inputs[0] if plan.inputs else ("", None)
    if item is None or not isinstance(item.value, np.ndarray) or item.value.size <= SIXTEEN_BITS:
        return None
    if item.value.dtype.kind not in "iuf":
        return None
    flat = item.value.reshape(-1).copy()
    flat[SIXTEEN_BITS:] = 0
    return _again(plan, name, flat.reshape(item.value.shape))


def _again(plan: Plan, name: str, value: Array) -> list[Any] | None:
    """Return the answer to the same call with another value of an input; None if it has none."""
    if name not in plan.spec.arguments:
        return None
    spec = dataclasses.replace(plan.spec, arguments={**plan.spec.arguments, name: value}, each=None, only=frozenset())
    try:
        other_plan = plans.plan(plan.op, plan.version, spec, {})
    except (HarnessError, plans.NotDerivedError):
        return None
    return None if other_plan.expected is None else list(other_plan.expected)


def _beyond_16_bits(values: Array) -> Array | None:
    if values.size <= SIXTEEN_BITS:
        return None
    return _replaced(values.reshape(-1), np.s_[SIXTEEN_BITS:]).reshape(values.shape)


def last_row_of_a_part(plan: Plan) -> list[Any] | None:
    """Damage the last row of each part of a result whose work is large and shared by four threads."""
    work = max((value.size for value in _tensors(plan).values()), default=0)
    return each_output(lambda values: _last_rows(values, work))(plan)


def _last_rows(values: Array, work: int) -> Array | None:
    rows = values.reshape(-1, values.shape[-1]) if values.ndim > 1 and values.shape[-1] else values.reshape(-1, 1)
    if len(rows) < PARTS:
        rows = values.reshape(-1, 1)
    if max(work, values.size) < SHARED or len(rows) < PARTS:
        return None
    size = math.ceil(len(rows) / PARTS)
    last = [min(part * size + size, len(rows)) - 1 for part in range(PARTS - 1)]
    return _replaced(rows, last).reshape(values.shape)


def beyond_the_first_rows(values: Array) -> Array | None:
    """Damage the rows beyond the first 64 of a product."""
    return _replaced(values, np.s_[..., BLOCK:, :]) if values.ndim > 1 and values.shape[-2] > BLOCK else None


def beyond_the_first_channels(values: Array) -> Array | None:
    """Damage the channels beyond the first 64 of a convolution, whose weights are the rows of a product."""
    return _replaced(values, np.s_[:, BLOCK:]) if values.ndim > 1 and values.shape[1] > BLOCK else None


def each_output(damage: Callable[[Array], Array | None]) -> Callable[[Plan], list[Any] | None]:
    """Return a function that damages every output of a call, also those in sequences."""

    def wrong(plan: Plan) -> list[Any] | None:
        outputs = [_damaged(output, damage) for output in plan.expected or ()]
        if all(damaged is None for damaged in outputs):
            return None
        pairs = zip(outputs, plan.expected or (), strict=True)
        return [right if damaged is None else damaged for damaged, right in pairs]

    return wrong


def _damaged(output: Any, damage: Callable[[Array], Array | None]) -> Any:  # noqa: ANN401 - any value
    if isinstance(output, list):
        items = [_damaged(item, damage) for item in output]
        changed = any(item is not None for item in items)
        return [old if new is None else new for new, old in zip(items, output, strict=True)] if changed else None
    return damage(output) if isinstance(output, np.ndarray) and output.size else None


def _tensors(plan: Plan) -> dict[str, Array]:
    return {name: np.asarray(item.value) for name, item in plan.inputs if item is not None and item.is_tensor}


def _attributes(plan: Plan) -> dict[str, Any]:
    values = {name: onnx.helper.get_attribute_value(proto) for name, proto in plan.attributes.items()}
    return {name: value.decode() if isinstance(value, bytes) else value for name, value in values.items()}


def _answer(operator: str, since: int, inputs: Mapping[str, Array | None], attributes: Mapping[str, Any]) -> Array:
    """Return the first output of the oracle. `inputs` are those of the signature, in its order."""
    op = registry.load().named(operator)
    version = schema.in_force("ai.onnx", operator, since)
    values = [None if value is None else TypedValue(value, type_of(value)) for value in inputs.values()]
    answer = evaluator.apply(op, version, _gathered(operator, values), attributes, 1)
    return np.asarray(evaluator.determined(answer.outputs[0]))


def _gathered(operator: str, values: list[Any]) -> list[Any]:
    return [values] if operator == "Einsum" else values


def _chunks(plan: Plan) -> tuple[str, int, int] | None:
    """Return the input and the axis along which a sum is divided, and the number of products; None without a sum."""
    tensors, attributes = _tensors(plan), _attributes(plan)
    name = next(iter(tensors))
    first = tensors[name]
    match plan.version.name:
        case "Gemm":
            axes = [0 if attributes.get("transA") else 1]
        case "Einsum":
            terms, _, result = attributes["equation"].partition("->")
            axes = [axis for axis, letter in enumerate(terms.split(",")[0]) if letter not in result]
        case "Conv":
            return name, 1, math.prod(tensors["W"].shape[1:])
        case "GlobalAveragePool":
            axes = [*range(2, first.ndim)]
        case "ReduceSum" | "ReduceMean":
            axes = [int(axis) % first.ndim for axis in tensors.get("axes", np.arange(first.ndim)).reshape(-1)]
        case _:
            axes = [first.ndim - 1]
    return (name, axes[-1], math.prod(first.shape[axis] for axis in axes)) if axes else None


def added_in_float16(plan: Plan) -> list[Any] | None:
    """Add the products of float16 numbers one after the other in float16, from 128 products on."""
    right = (plan.expected or (None,))[0]
    if not isinstance(right, np.ndarray) or right.dtype != np.float16 or (found := _chunks(plan)) is None:
        return None
    name, axis, products = found
    tensors, attributes = _tensors(plan), _attributes(plan)
    count = tensors[name].shape[axis]
    if products < SUMMED or count > MOST_SUMMED:
        return None
    ordered = {item: tensors.get(item) for item, _ in plan.inputs}
    empty = np.zeros_like(tensors[name])
    base = _answer(plan.version.name, plan.version.since, {**ordered, name: empty}, attributes)
    total = base.astype(np.float16)
    for place in range(count):
        part = empty.copy()
        here = tuple(place if other_axis == axis else slice(None) for other_axis in range(part.ndim))
        part[here] = tensors[name][here]
        share = _answer(plan.version.name, plan.version.since, {**ordered, name: part}, attributes)
        with np.errstate(all="ignore"):
            total = (total + (share.astype(np.float64) - base.astype(np.float64)).astype(np.float16)).astype(np.float16)
    return [total, *(plan.expected or ())[1:]]


_QUANTIZED = {
    "MatMulInteger": ("MatMulInteger", "A", "B", "a_zero_point", "b_zero_point"),
    "QLinearMatMul": ("MatMulInteger", "a", "b", "a_zero_point", "b_zero_point"),
    "ConvInteger": ("ConvInteger", "x", "w", "x_zero_point", "w_zero_point"),
    "QLinearConv": ("ConvInteger", "x", "w", "x_zero_point", "w_zero_point"),
}
"""By operator: the operator that computes the sums, and the names of the operands and their zero points."""


def saturated_by_pairs(plan: Plan) -> list[Any] | None:
    """Limit the sum of each two products of uint8 and int8 to 16 bits, as instructions before VNNI do."""
    integer, left, right, *zeros = _QUANTIZED[plan.version.name]
    tensors, attributes = _tensors(plan), _attributes(plan)
    weights = tensors[right]
    if (tensors[left].dtype, weights.dtype) != (np.uint8, np.int8) or weights.ndim < 2:  # noqa: PLR2004 - a matrix
        return None
    is_product = integer == "MatMulInteger"
    terms = weights.shape[-2] if is_product else math.prod(weights.shape[1:])
    if terms > MOST_SUMMED:
        return None
    error: Any = 0
    for start in range(0, terms, 2):
        pair = np.zeros_like(weights)
        if is_product:
            pair[..., start : start + 2, :] = weights[..., start : start + 2, :]
        else:
            pair.reshape(len(pair), -1)[:, start : start + 2] = weights.reshape(len(pair), -1)[:, start : start + 2]
        share = _answer(integer, 10, {"x": tensors[left], "w": pair}, attributes).astype(np.int64)
        error = error + np.clip(share, -(1 << 15), (1 << 15) - 1) - share
    known = {"x": tensors[left], "w": weights, **{name: tensors.get(name) for name in zeros}}
    sums = _answer(integer, 10, known, attributes) + error
    return [sums.astype(np.int32)] if plan.version.name == integer else _requantized(plan, sums, tensors)


def _requantized(plan: Plan, sums: Array, tensors: Mapping[str, Array]) -> list[Any] | None:
    """Return the sums as numbers of the result's type; None if there is a bias or a scale of each row."""
    names = [name for name in tensors if name.endswith("_scale")]
    scales = [tensors[name].astype(np.float64) for name in names]
    if "B" in tensors or any(scale.size != 1 for scale in (scales[0], scales[2])):
        return None
    of_weights = scales[1].reshape(-1) if scales[1].size > 1 else scales[1].reshape(())
    if plan.version.name == "QLinearConv" and of_weights.ndim:
        of_weights = of_weights.reshape(-1, *[1] * (sums.ndim - 2))
    zero = tensors["y_zero_point"]
    limits = np.iinfo(zero.dtype)
    values = np.round(sums * scales[0].item() * of_weights / scales[2].item()) + int(zero.reshape(-1)[0])
    return [np.clip(values, limits.min, limits.max).astype(zero.dtype)]


_POINTS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5)
_TILE, _KERNEL = 6, 3


def _vandermonde(columns: int) -> Array:
    """Return the powers of the points, and a row for the point at infinity."""
    rows = [[point**power for power in range(columns)] for point in _POINTS]
    return np.array([*rows, [0.0] * (columns - 1) + [1.0]])


def by_winograd(plan: Plan) -> list[Any] | None:
    """Compute a convolution with kernels of 3 x 3 by F(6 x 6, 3 x 3) in float32, which rounds more."""
    tensors, attributes = _tensors(plan), _attributes(plan)
    image, weights = tensors["X"], tensors["W"]
    plain = all(item in {0, 1} for item in (*attributes.get("strides", ()), *attributes.get("dilations", ())))
    square = weights.ndim == 4 and weights.shape[2:] == (_KERNEL, _KERNEL)  # noqa: PLR2004 - a plane
    if (
        not plain
        or not square
        or attributes.get("group", 1) != 1
        or image.dtype != np.float32
        or "auto_pad" in attributes
    ):
        return None
    top, left, bottom, right = attributes.get("pads", (0, 0, 0, 0))
    expected = (plan.expected or (None,))[0]
    if not isinstance(expected, np.ndarray):
        return None
    height, width = expected.shape[2:]
    rows, columns = math.ceil(height / _TILE), math.ceil(width / _TILE)
    padded = np.zeros((*image.shape[:2], rows * _TILE + _KERNEL - 1, columns * _TILE + _KERNEL - 1), np.float32)
    whole = np.pad(image, ((0, 0), (0, 0), (top, bottom), (left, right)))
    padded[:, :, : whole.shape[2], : whole.shape[3]] = whole
    of_tile = np.linalg.inv(_vandermonde(_TILE + _KERNEL - 1)).T.astype(np.float32)
    of_kernel, back = _vandermonde(_KERNEL).astype(np.float32), _vandermonde(_TILE).T.astype(np.float32)
    kernels = of_kernel @ weights @ of_kernel.T
    result = np.zeros((len(image), len(weights), rows * _TILE, columns * _TILE), np.float32)
    size = _TILE + _KERNEL - 1
    for row, column in itertools.product(range(rows), range(columns)):
        y, x = row * _TILE, column * _TILE
        tile = of_tile @ padded[:, :, y : y + size, x : x + size] @ of_tile.T
        product = (kernels[None] * tile[:, None]).sum(2, dtype=np.float32)
        result[:, :, y : y + _TILE, x : x + _TILE] = back @ product @ back.T
    result = result[:, :, :height, :width]
    return [result + tensors["B"][:, None, None] if "B" in tensors else result]


def wrong_for_one_value(plan: Plan) -> list[Any] | None:
    """Return a wrong element for one of the 65,536 values of 16 bits, or of the pairs of values of 8 bits."""
    outputs, tensors = plan.expected or (), [*_tensors(plan).values()]
    if len(outputs) != 1 or not isinstance(outputs[0], np.ndarray) or not tensors:
        return None
    first, place = tensors[0], None
    if first.dtype.itemsize == 2 and first.dtype.kind in "fiuV" and first.size == outputs[0].size:  # noqa: PLR2004
        place = np.ascontiguousarray(first).view(np.uint16) == WORD
    elif len(tensors) > 1 and first.dtype in {np.dtype(np.uint8), np.dtype(np.int8)}:
        second = tensors[1]
        if second.dtype == first.dtype and second.shape == first.shape == outputs[0].shape:
            place = (first.view(np.uint8) == BYTES[0]) & (second.view(np.uint8) == BYTES[1])
    if place is None or not place.any():
        return None
    return [_replaced(outputs[0], place.reshape(outputs[0].shape))]


@dataclass(frozen=True)
class Fault:
    """A fault of a kernel.

    Attributes:
        name: the fault in a few words.
        wrong: returns the outputs of a faulty kernel for a call, or None if the fault does not concern the call.
        operators: the operators that such a kernel computes; None for all that have sized calls.
        exhaustive: whether it concerns only operators with a call of every value.
    """

    name: str
    wrong: Callable[[Plan], list[Any] | None]
    operators: frozenset[str] | None = None
    exhaustive: bool = False


_PRODUCTS = frozenset({"MatMul", "Gemm", "Einsum", "MatMulInteger", "QLinearMatMul"})
_CONVOLUTIONS = frozenset({"Conv", "ConvTranspose", "ConvInteger", "QLinearConv"})
_SUMS = frozenset({"MatMul", "Gemm", "Einsum", "Conv", "ReduceSum", "ReduceMean", "GlobalAveragePool"})
FAULTS = (
    Fault("the last n % 8 elements of the innermost dimension", each_output(tail)),
    Fault("everything after element 65,535", beyond_16_bits),
    Fault("rows beyond the first 64 of a product", each_output(beyond_the_first_rows), _PRODUCTS),
    Fault("channels beyond the first 64 of a convolution", each_output(beyond_the_first_channels), _CONVOLUTIONS),
    Fault("addition in float16 of 128 products and more", added_in_float16, _SUMS),
    Fault("sums of two products limited to 16 bits", saturated_by_pairs, frozenset(_QUANTIZED)),
    Fault("the last row of the part of a thread", last_row_of_a_part),
    Fault("the rounding of Winograd's algorithm at 3 x 3", by_winograd, frozenset({"Conv"})),
    Fault("one wrong value of 65,536", wrong_for_one_value, exhaustive=True),
)
