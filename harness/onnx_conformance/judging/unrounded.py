# SPDX-License-Identifier: Apache-2.0
"""A quantized model without rounding: the same graph, whose quantized tensors contain numbers that are not rounded.

A quantizer replaces numbers with integers, or with other short types, on a grid: x / scale + zero point. It is right if
nothing but rounding to this grid changes the results. So the rewritten model computes the same scales, zero points and
limits of ranges, but does not round. Its constants are those of the original model, if the quantized ones are within
half a step of them. It must have the results of the original model.

A quantized tensor of the rewritten model contains floats that count steps of the grid, with the zero point.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnx_conformance.base.verdict import line
from onnx_conformance.specification.element_types import numpy_dtype

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Array = np.ndarray[Any, Any]

MICROSOFT = "com.microsoft"
HALF = 0.501
"""Half a step, and the error of rounding the quotient to float32."""
ONE = 1.001
"""The greatest distance in steps of a number at the end of the range: quantizers may leave out the last step."""


BYTE = 255
"""The number of steps of 8 bits."""


class UnknownQuantizationError(Exception):
    """A quantized operator, or its use, for which there is no model without rounding."""


@dataclass(frozen=True)
class Unlike:
    """A constant that is not within half a step of the original one.

    Attributes:
        name: of the original constant.
        index: of the worst element.
        original, quantized: the two values there.
        steps: their distance, in steps of the grid.
        is_fine: whether the type has integers of 8 bits or more.
    """

    name: str
    index: tuple[int, ...]
    original: float
    quantized: float
    steps: float
    is_fine: bool

    def __str__(self) -> str:
        """Return a sentence."""
        place = "".join(f"[{number}]" for number in self.index)
        return (
            f"the quantized constant {line(self.name, 60)}{place} is {self.quantized:.6g}; the original is "
            f"{self.original:.6g}, {self.steps:.3g} steps away"
        )


@dataclass(frozen=True)
class Match:
    """The numbers that a quantized constant has without rounding.

    Attributes:
        numbers: those of the original constant, or the represented ones.
        is_original: whether they are those of an original constant.
        unlike: how the quantized constant differs from it by too much, or None.
    """

    numbers: Array
    is_original: bool = True
    unlike: Unlike | None = None

    @property
    def steps(self) -> float:
        """The distance of the quantized constant by which it differs too much; infinite without an original."""
        if not self.is_original:
            return np.inf
        return self.unlike.steps if self.unlike else 0.0


@dataclass(frozen=True)
class Watched:
    """A number that a grid with a constant scale represents.

    Attributes:
        name: of the value in the rewritten model, before it is quantized.
        scale_name: the name of the scale.
        scale: the scale.
        low, high: the range of the grid, in numbers of the value.
        steps: the number of steps of the grid; infinite for short floats, whose steps are relative to the numbers.
        made_by: the operator that computes the value; empty: it is an input.
    """

    name: str
    scale_name: str
    scale: float
    low: float
    high: float
    steps: float
    made_by: str


@dataclass
class Unrounded:
    """The rewritten model.

    Attributes:
        model: the model.
        quantizes: whether there is a quantized tensor.
        unlike: the constants that differ from the original ones by too much.
        unmatched: the quantized constants for which the original model has none.
        watched: the values that are quantized.
    """

    model: onnx.ModelProto
    quantizes: bool = False
    unlike: list[Unlike] = field(default_factory=list)
    unmatched: list[str] = field(default_factory=list)
    watched: list[Watched] = field(default_factory=list)


def unrounded(original: onnx.ModelProto, quantized: onnx.ModelProto) -> Unrounded:
    """Return the quantized model without rounding.

    Args:
        original: the model before it was quantized.
        quantized: the model after that.

    Raises:
        UnknownQuantizationError: it contains a quantized operator that is not known, or a grid that is not constant.
    """
    return _Rewriting(original, quantized).done()


def is_quantized(model: onnx.ModelProto) -> bool:
    """Return whether a node of the graph has quantized tensors."""
    return any((node.domain, node.op_type) in RULES for node in model.graph.node)


def constants(model: onnx.ModelProto) -> dict[str, Array]:
    """Return the initializers and the results of Constant nodes of a graph by name."""
    found = {item.name: np.asarray(numpy_helper.to_array(item)) for item in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant" and not node.domain:
            for item in node.attribute:
                if item.name == "value":
                    found[node.output[0]] = np.asarray(numpy_helper.to_array(item.t))
                elif item.name in {"value_float", "value_floats"}:
                    found[node.output[0]] = np.asarray(helper.get_attribute_value(item), np.float32)
    return found


def _originals(model: onnx.ModelProto) -> list[tuple[str, Array]]:
    """Return the numbers that a quantized constant may represent; those of Gemm also with its factor beta."""
    of_model = {name: value for name, value in constants(model).items() if value.dtype.kind == "f"}
    found = list(of_model.items())
    for node in model.graph.node:
        beta = next((item.f for item in node.attribute if item.name == "beta"), 1.0)
        if node.op_type == "Gemm" and len(node.input) == 3 and node.input[2] in of_model:  # noqa: PLR2004 - it has C
            found.append((node.input[2], np.asarray(of_model[node.input[2]] * np.float32(beta))))
    return found


def limits(dtype: np.dtype[Any]) -> tuple[float, float]:
    """Return the smallest and the greatest number of a quantized type."""
    if _is_integer(dtype):
        info = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
        return float(info.min), float(info.max)
    of_float = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    return float(of_float.min), float(of_float.max)


def _is_integer(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iu" or dtype.name in {"int4", "uint4", "int2", "uint2"}


def _spacing(quantized: Array) -> Array:
    """Return the distance between neighbouring numbers of the type of a quantized tensor, at each of its elements."""
    if _is_integer(quantized.dtype):
        return np.ones(quantized.shape)
    info = ml_dtypes.finfo(quantized.dtype)  # type: ignore[no-untyped-call]
    size = np.maximum(np.abs(quantized.astype(np.float64)), float(info.smallest_normal))
    return np.asarray(2.0 ** np.floor(np.log2(size)) * float(info.eps))


def _broadcast(parameter: Array, shape: tuple[int, ...], axis: int, block: int) -> Array:
    """Return a scale or zero point for each element of a tensor: of the whole tensor, of an axis, or of blocks."""
    if parameter.size == 1:
        return np.full(shape, parameter.reshape(()).astype(np.float64))
    wide = parameter.astype(np.float64)
    if parameter.ndim == len(shape) and parameter.ndim > 1 and block:
        return np.asarray(np.take(wide, np.arange(shape[axis]) // block, axis=axis))
    if parameter.ndim == 1 and shape and parameter.size == shape[axis]:
        return np.asarray(
            np.broadcast_to(wide.reshape([-1 if k == axis % len(shape) else 1 for k in range(len(shape))]), shape)
        )
    raise UnknownQuantizationError(f"a scale of shape {list(parameter.shape)} for a tensor of shape {list(shape)}")


class _Rewriting:
    """The rewriting of one model."""

    def __init__(self, original: onnx.ModelProto, quantized: onnx.ModelProto) -> None:
        self.originals = _originals(original)
        self.constants = constants(quantized)
        self.quantized = quantized
        self.result = Unrounded(onnx.ModelProto())
        self.nodes: list[onnx.NodeProto] = []
        self.added: dict[str, Array] = {}
        self.dtypes: dict[str, np.dtype[Any]] = {}
        """The types of the quantized tensors by name."""
        self.made_by = {name: node.op_type for node in quantized.graph.node for name in node.output}
        self.taken = {name for node in quantized.graph.node for name in (*node.input, *node.output)}

    def done(self) -> Unrounded:
        """Return the rewritten model, and the differences of its constants."""
        for node in self.quantized.graph.node:
            rule = RULES.get((node.domain or "", node.op_type))
            if rule is not None:
                self.result.quantizes = True
                rule(self, _Node(node))
            elif node.domain == MICROSOFT and node.op_type.startswith(("Q", "Dequantize", "Dynamic")):
                raise UnknownQuantizationError(f"{node.op_type} of {node.domain}")
            else:
                self._other(node)
        model = self.result.model
        model.CopyFrom(self.quantized)
        del model.graph.node[:], model.graph.value_info[:]
        model.graph.node.extend(self.nodes)
        model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in self.added.items())
        return self.result

    # Names and small nodes.

    def new(self, name: str) -> str:
        """Return a name that the graph does not have."""
        number = len(self.taken)
        while f"{name}.{number}" in self.taken:
            number += 1
        self.taken.add(f"{name}.{number}")
        return f"{name}.{number}"

    def constant(self, name: str, value: Array) -> str:
        """Return the name of a new constant."""
        made = self.new(name)
        self.added[made] = np.asarray(value)
        return made

    def emit(self, op: str, *inputs: str, output: str = "", **attributes: Any) -> str:  # noqa: ANN401 - any attribute
        """Add a node, and return the name of its output."""
        made = output or self.new(op)
        self.nodes.append(helper.make_node(op, list(inputs), [made], **attributes))
        return made

    def _other(self, node: onnx.NodeProto) -> None:
        """Add a node that is not quantized. Constants of a quantized type become floats, as its other inputs are."""
        kept = onnx.NodeProto()
        kept.CopyFrom(node)
        types = [self.dtypes[name] for name in node.input if name in self.dtypes]
        if types and node.op_type not in {"Cast", "Shape", "Size"}:
            for place, name in enumerate(node.input):
                value = self.constants.get(name)
                if value is not None and value.dtype == types[0]:
                    kept.input[place] = self.constant(name, value.astype(np.float32))
            for name in node.output:
                self.dtypes[name] = types[0]
        if node.op_type == "Cast" and types:  # To a float: it is one. The types of products are wider integers.
            kept = helper.make_node("Identity", [node.input[0]], list(node.output))
        self.nodes.append(kept)

    # Grids.

    def array(self, name: str) -> Array | None:
        """Return the constant with a name, or None for a computed value."""
        return self.constants.get(name)

    def as_float(self, name: str) -> str:
        """Return the name of a float tensor with the numbers of a zero point or another short integer."""
        value = self.array(name)
        if value is not None:
            return self.constant(name, value.astype(np.float32))
        if name in self.dtypes:
            return name
        return self.emit("Cast", name, to=onnx.TensorProto.FLOAT)

    def dequantized(self, x: str, scale: str, zero: str, axis: int = 1, block: int = 0) -> str:
        """Return the name of the numbers that a quantized tensor represents."""
        value = self.array(x)
        if value is not None and x not in self.dtypes:
            return self._of_constant(x, value, scale, zero, axis, block)
        grid = self.array(scale)
        if grid is not None and grid.size != 1:
            raise UnknownQuantizationError(f"{line(x, 60)} has a scale for each channel, and is computed")
        steps = self.emit("Sub", x, self.as_float(zero)) if zero else x
        return self.emit("Mul", steps, scale)

    def _of_constant(self, x: str, value: Array, scale: str, zero: str, axis: int, block: int) -> str:
        """Return the name of the original constant that a quantized constant represents."""
        step, offset = self.array(scale), self.array(zero) if zero else np.zeros((), np.float64)
        if step is None or offset is None:
            raise UnknownQuantizationError(f"the grid of the constant {line(x, 60)} is computed")
        shape = value.shape
        steps, offsets = (_broadcast(np.asarray(item), shape, axis, block) for item in (step, offset))
        return self.constant(x, self.matched(x, value, steps, offsets).astype(np.float32))

    def matched(self, x: str, value: Array, steps: Array, offsets: Array) -> Array:
        """Return the original of a quantized constant, or the constant itself if it has no original; note differences.

        Args:
            x: its name.
            value: its quantized numbers.
            steps: the scale of each element.
            offsets: the zero point of each element.
        """
        return self.noted(x, self.match(x, value, steps, offsets))

    def noted(self, x: str, match: Match) -> Array:
        """Note how a quantized constant differs from the original, and return its numbers without rounding."""
        if match.is_original:
            self.result.unlike += [match.unlike] if match.unlike else []
        else:
            self.result.unmatched.append(x)
        return match.numbers

    def match(self, x: str, value: Array, steps: Array, offsets: Array) -> Match:
        """Return the original constant that fits a quantized one best; see `matched`."""
        represented = (value.astype(np.float64) - offsets) * steps
        found = [
            (self._distance(original, value, represented, steps), name, original, named)
            for name, original, named in self._candidates(x, represented.shape)
        ]
        for (excess, _, _), _, original, _ in found:
            if excess <= 1:
                return Match(original)
        of_name = [item for item in found if item[3]]
        if not of_name:
            return Match(represented, is_original=False)
        (_, index, far), name, original, _ = min(of_name, key=lambda item: item[0][0])
        lowest, highest = limits(value.dtype)
        is_fine = _is_integer(value.dtype) and highest - lowest >= BYTE
        unlike = Unlike(name, index, float(original[index]), float(represented[index]), far, is_fine)
        return Match(original, unlike=unlike)

    def _candidates(self, x: str, shape: tuple[int, ...]) -> Iterator[tuple[str, Array, bool]]:
        """Yield the original constants that a quantized one may represent, and whether its name begins with theirs."""
        for name, value in self.originals:
            views = (value, value.T) if value.ndim == 2 else (value,)  # noqa: PLR2004 - a matrix may be transposed
            for view in views:
                if view.shape == shape:
                    yield name, view.astype(np.float64), x.startswith(name)

    @staticmethod
    def _distance(
        original: Array, value: Array, represented: Array, steps: Array
    ) -> tuple[float, tuple[int, ...], float]:
        """Return the greatest distance as a multiple of the allowed one; its index; and the distance in steps there."""
        if not value.size:
            return 0.0, (), 0.0
        lowest, highest = limits(value.dtype)
        ends = (value.astype(np.float64) <= lowest) | (value.astype(np.float64) >= highest)
        with np.errstate(all="ignore"):
            size = np.abs(steps) * _spacing(value)
            difference = np.abs(original - represented)
            far = np.where(difference == 0, 0, difference / size)
            excess = far / np.where(ends, ONE, HALF)
        excess = np.where(np.isnan(excess), np.inf, excess)
        index = tuple(int(number) for number in np.unravel_index(int(np.argmax(excess)), excess.shape))
        return float(excess[index]), index, float(far[index])

    def quantize(
        self, x: str, scale: str, zero: str, output: str, dtype: np.dtype[Any] | None = None, op: str | None = None
    ) -> None:
        """Add the nodes that quantize numbers without rounding them.

        Args:
            x: the name of the numbers.
            scale: that of the scale.
            zero: that of the zero point; empty: it is 0.
            output: that of the quantized tensor.
            dtype: its type; None: that of the zero point, or uint8 without one.
            op: the operator that computes the numbers; None: that of x.
        """
        offset, step = self.array(zero) if zero else None, self.array(scale)
        if dtype is None:
            dtype = offset.dtype if offset is not None else np.dtype(np.uint8)
        if step is not None and step.size != 1:
            raise UnknownQuantizationError(f"{line(x, 60)} has a scale for each channel, and is computed")
        lowest, highest = limits(dtype)
        steps = self.emit("Div", x, scale)
        if zero:
            steps = self.emit("Add", steps, self.as_float(zero))
        number = float(offset.astype(np.float64).reshape(())) if offset is not None and offset.size == 1 else 0.0
        # Where the range ends at zero, it replaces a Relu. Elsewhere, half a step beyond the end is rounded to it.
        half = 0.5 if _is_integer(dtype) else highest * float(ml_dtypes.finfo(dtype).eps) / 2  # type: ignore[no-untyped-call]
        low = lowest if number == lowest else lowest - half
        high = highest if number == highest else highest + half
        if step is not None:
            size = float(step.reshape(()))
            made_by = self.made_by.get(x, "") if op is None else op
            count = highest - lowest if _is_integer(dtype) else np.inf
            ends = ((low - number) * size, (high - number) * size)
            self.result.watched.append(Watched(x, scale, size, *ends, count, made_by))
        floor = self.emit("Max", steps, self.constant("lowest", np.asarray(low, np.float32)))
        self.emit("Min", floor, self.constant("highest", np.asarray(high, np.float32)), output=output)
        self.dtypes[output] = dtype


@dataclass(frozen=True)
class _Node:
    """A node, with its inputs and attributes by place and name."""

    proto: onnx.NodeProto

    def input(self, place: int) -> str:
        """Return the name of an input; empty if it is absent."""
        return self.proto.input[place] if place < len(self.proto.input) else ""

    @property
    def output(self) -> str:
        """The name of the first output."""
        return str(self.proto.output[0])

    def attribute(self, name: str, default: Any) -> Any:  # noqa: ANN401 - any attribute
        """Return the value of an attribute."""
        found = (helper.get_attribute_value(item) for item in self.proto.attribute if item.name == name)
        return next(found, default)

    def attributes(self, *left_out: str) -> dict[str, Any]:
        """Return all attributes that are set, except some."""
        return {
            item.name: helper.get_attribute_value(item) for item in self.proto.attribute if item.name not in left_out
        }


_Rule = Callable[[_Rewriting, _Node], None]


def _quantize_linear(to: _Rewriting, node: _Node) -> None:
    number = node.attribute("output_dtype", 0)
    dtype = numpy_dtype(number) if number else None
    if node.attribute("block_size", 0):
        raise UnknownQuantizationError("QuantizeLinear in blocks of a computed tensor")
    to.quantize(node.input(0), node.input(1), node.input(2), node.output, dtype)


def _dequantize_linear(to: _Rewriting, node: _Node) -> None:
    made = to.dequantized(
        node.input(0), node.input(1), node.input(2), node.attribute("axis", 1), node.attribute("block_size", 0)
    )
    to.emit("Identity", made, output=node.output)


def _dynamic_quantize_linear(to: _Rewriting, node: _Node) -> None:
    """Compute the scale and zero point from the numbers, as the operator does."""
    y, scale, zero = node.proto.output[0], *(name or to.new("unused") for name in (*node.proto.output[1:], "", "")[:2])
    unused = to.new("rounded")
    to.nodes.append(helper.make_node("DynamicQuantizeLinear", [node.input(0)], [unused, scale, zero]))
    steps = to.emit("Div", node.input(0), scale)
    to.emit("Add", steps, to.emit("Cast", zero, to=onnx.TensorProto.FLOAT), output=y)
    to.dtypes[y] = np.dtype(np.uint8)


def _bias(to: _Rewriting, name: str, x_scale: str, w_scale: str, factor: float = 1.0) -> str:
    """Return the name of the original bias; its grid has the product of two scales, and of a factor of the node."""
    one, other = to.array(x_scale), to.array(w_scale)
    value = to.array(name)
    if one is None or other is None or value is None:
        raise UnknownQuantizationError("a bias, or its grid, is computed")
    product = one.astype(np.float64).reshape(-1) * other.astype(np.float64).reshape(-1)
    steps = _broadcast(product * factor, value.shape, -1, 0)
    return to.constant(name, to.matched(name, value, steps, np.zeros(value.shape)).astype(np.float32))


def _q_linear_conv(to: _Rewriting, node: _Node) -> None:
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias = (node.input(place) for place in range(9))
    inputs = [to.dequantized(x, x_scale, x_zero), to.dequantized(w, w_scale, w_zero, 0)]
    if bias:
        inputs.append(_bias(to, bias, x_scale, w_scale))
    made = to.emit("Conv", *inputs, **node.attributes())
    to.quantize(made, y_scale, y_zero, node.output, op="Conv")


def _q_linear_mat_mul(to: _Rewriting, node: _Node) -> None:
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = (node.input(place) for place in range(8))
    made = to.emit("MatMul", to.dequantized(a, a_scale, a_zero, -2), to.dequantized(b, b_scale, b_zero, -1))
    to.quantize(made, y_scale, y_zero, node.output, op="MatMul")


def _steps(to: _Rewriting, x: str, zero: str, axis: int) -> str:
    """Return the name of a quantized tensor without its zero point, in steps of its grid.

    The scale of a constant is a factor of the result, which the model multiplies later: a constant of the model.
    """
    value = to.array(x)
    if value is None or x in to.dtypes:
        if not zero:
            return x
        return to.emit("Sub", x, to.as_float(zero))
    offset = to.array(zero) if zero else np.zeros((), np.float64)
    if offset is None:
        raise UnknownQuantizationError(f"the grid of the constant {line(x, 60)} is computed")
    offsets = _broadcast(np.asarray(offset), value.shape, axis, 0)
    return to.constant(x, _by_any_scale(to, x, value, offsets, axis).astype(np.float32))


def _by_any_scale(to: _Rewriting, x: str, value: Array, offsets: Array, axis: int) -> Array:
    """Return the original of a constant in steps, for the scale among the constants of the model that fits best."""
    sizes = {1, value.shape[axis] if value.ndim else 1}
    best = Match(value.astype(np.float64) - offsets, is_original=False)
    for scale in to.constants.values():
        if scale.dtype.kind == "f" and scale.ndim <= 1 and scale.size in sizes and (scale > 0).all():
            steps = _broadcast(scale, value.shape, axis, 0)
            match = to.match(x, value, steps, offsets)
            if match.is_original and match.steps < best.steps:
                best = dataclasses.replace(match, numbers=match.numbers / steps)
    return to.noted(x, best)


def _mat_mul_integer(to: _Rewriting, node: _Node) -> None:
    a, b, a_zero, b_zero = (node.input(place) for place in range(4))
    product = to.emit("MatMul", _steps(to, a, a_zero, -2), _steps(to, b, b_zero, -1), output=node.output)
    to.dtypes[product] = np.dtype(np.int32)


def _conv_integer(to: _Rewriting, node: _Node) -> None:
    x, w, x_zero, w_zero = (node.input(place) for place in range(4))
    product = to.emit(
        "Conv", _steps(to, x, x_zero, 1), _steps(to, w, w_zero, 0), output=node.output, **node.attributes()
    )
    to.dtypes[product] = np.dtype(np.int32)


def _of_two(op: str) -> _Rule:
    """Return the rule for an operator of two quantized tensors, such as QLinearAdd."""

    def rule(to: _Rewriting, node: _Node) -> None:
        a, a_scale, a_zero, b, b_scale, b_zero, c_scale, c_zero = (node.input(place) for place in range(8))
        made = to.emit(op, to.dequantized(a, a_scale, a_zero), to.dequantized(b, b_scale, b_zero))
        to.quantize(made, c_scale, c_zero, node.output, op=op)

    return rule


def _of_one(op: str, *left_out: str) -> _Rule:
    """Return the rule for an operator of one quantized tensor, such as QLinearSigmoid."""

    def rule(to: _Rewriting, node: _Node) -> None:
        if node.attribute("channels_last", 0):
            raise UnknownQuantizationError(f"{node.proto.op_type} with the channels last")
        x, x_scale, x_zero, y_scale, y_zero = (node.input(place) for place in range(5))
        made = to.emit(op, to.dequantized(x, x_scale, x_zero), **node.attributes("channels_last", *left_out))
        to.quantize(made, y_scale, y_zero, node.output, op=op)

    return rule


def _q_linear_concat(to: _Rewriting, node: _Node) -> None:
    places = range(2, len(node.proto.input), 3)
    parts = [to.dequantized(node.input(place), node.input(place + 1), node.input(place + 2)) for place in places]
    made = to.emit("Concat", *parts, **node.attributes())
    to.quantize(made, node.input(0), node.input(1), node.output, op="Concat")


def _q_gemm(to: _Rewriting, node: _Node) -> None:
    a, a_scale, a_zero, b, b_scale, b_zero, c, y_scale, y_zero = (node.input(place) for place in range(9))
    axis = 0 if node.attribute("transB", 0) else 1
    inputs = [to.dequantized(a, a_scale, a_zero), to.dequantized(b, b_scale, b_zero, axis)]
    if c:
        inputs.append(_bias(to, c, a_scale, b_scale, node.attribute("alpha", 1.0)))
    if not y_scale:
        to.emit("Gemm", *inputs, output=node.output, **node.attributes())
        return
    made = to.emit("Gemm", *inputs, **node.attributes())
    to.quantize(made, y_scale, y_zero, node.output, op="Gemm")


def _mat_mul_n_bits(to: _Rewriting, node: _Node) -> None:
    """Multiply by the original matrix. The node has it in blocks of a few bits."""
    attributes = node.attributes()
    rows, columns, bits, block = (int(attributes.get(name, 4)) for name in ("K", "N", "bits", "block_size"))
    packed, scales, zero = to.array(node.input(1)), to.array(node.input(2)), to.array(node.input(3))
    if packed is None or scales is None or node.input(4) or (node.input(3) and zero is None):
        raise UnknownQuantizationError("MatMulNBits with a computed matrix, or with g_idx")
    blocks = -(-rows // block)
    numbers = _unpacked(packed.reshape(columns, blocks, -1), bits)[..., :block]
    if zero is None:
        offsets = np.full((columns, blocks), 2.0 ** (bits - 1))
    elif zero.dtype == np.uint8:
        offsets = _unpacked(zero.reshape(columns, -1), bits)[:, :blocks].astype(np.float64)
    else:
        offsets = zero.reshape(columns, blocks).astype(np.float64)
    dtype = np.dtype(ml_dtypes.uint4) if bits == 4 else np.dtype(np.uint8)  # noqa: PLR2004 - bits
    value = numbers.reshape(columns, -1)[:, :rows].astype(dtype)
    steps, offsets = (
        np.repeat(item.reshape(columns, blocks).astype(np.float64), block, axis=1)[:, :rows]
        for item in (scales, offsets)
    )
    original = to.matched(node.input(1), value, steps, offsets)
    product = to.emit("MatMul", node.input(0), to.constant(node.input(1), original.T.astype(np.float32)))
    if node.input(5):
        product = to.emit("Add", product, node.input(5))
    to.emit("Identity", product, output=node.output)


def _unpacked(packed: Array, bits: int) -> Array:
    """Return the numbers of a few bits in bytes, the lowest bits first."""
    places = np.arange(0, 8, bits, dtype=np.uint8)
    return np.asarray((packed[..., None] >> places) & (2**bits - 1)).reshape(*packed.shape[:-1], -1)


RULES: Mapping[tuple[str, str], _Rule] = {
    **{(domain, "QuantizeLinear"): _quantize_linear for domain in ("", MICROSOFT)},
    **{(domain, "DequantizeLinear"): _dequantize_linear for domain in ("", MICROSOFT)},
    ("", "DynamicQuantizeLinear"): _dynamic_quantize_linear,
    ("", "QLinearConv"): _q_linear_conv,
    ("", "QLinearMatMul"): _q_linear_mat_mul,
    ("", "MatMulInteger"): _mat_mul_integer,
    ("", "ConvInteger"): _conv_integer,
    **{(MICROSOFT, f"QLinear{op}"): _of_two(op) for op in ("Add", "Mul")},
    **{(MICROSOFT, f"QLinear{op}"): _of_one(op) for op in ("Sigmoid", "LeakyRelu", "AveragePool", "GlobalAveragePool")},
    (MICROSOFT, "QLinearSoftmax"): _of_one("Softmax", "opset"),
    (MICROSOFT, "QLinearConcat"): _q_linear_concat,
    (MICROSOFT, "QGemm"): _q_gemm,
    (MICROSOFT, "MatMulNBits"): _mat_mul_n_bits,
}
"""By domain and operator, the nodes that compute the same without rounding."""
