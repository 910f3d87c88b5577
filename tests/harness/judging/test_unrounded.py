# SPDX-License-Identifier: Apache-2.0
"""Each rule for a quantized operator: without rounding, the model has the results of the original."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization

from onnx_conformance.judging import unrounded
from onnx_conformance.specification.evaluator import Evaluator

if TYPE_CHECKING:
    from pathlib import Path

Array = np.ndarray[Any, Any]
DRAW = np.random.default_rng(0)
X, LINE = DRAW.normal(size=(3, 4)).astype(np.float32), DRAW.normal(size=(1, 2, 9)).astype(np.float32)
OTHER, WEIGHT = DRAW.normal(size=(3, 4)).astype(np.float32), DRAW.normal(size=(4, 5)).astype(np.float32)
KERNEL, BIAS = DRAW.normal(size=(3, 2, 3)).astype(np.float32), DRAW.normal(size=5).astype(np.float32)


class Reader(quantization.CalibrationDataReader):  # type: ignore[misc]
    def __init__(self, inputs: dict[str, Array]) -> None:
        self.rows = [inputs]

    def get_next(self) -> dict[str, Array] | None:
        return self.rows.pop() if self.rows else None


def model_of(body: str, inputs: dict[str, Array], **constants: Array) -> onnx.ModelProto:
    declared = ", ".join(f"float[{','.join(map(str, value.shape))}] {name}" for name, value in inputs.items())
    text = f'<ir_version: 8, opset_import: ["": 17]> g ({declared}) => (float[?] Y) {{ {body} }}'
    model = onnx.parser.parse_model(text.replace("float[?] Y", "Y"))
    model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in constants.items())
    return onnx.shape_inference.infer_shapes(model)


CASES: dict[str, tuple[str, dict[str, Array], dict[str, Array]]] = {
    "QLinearConv": ("Y = Conv(X, W)", {"X": LINE}, {"W": KERNEL}),
    "QLinearMatMul": ("Y = MatMul(X, W)", {"X": X}, {"W": WEIGHT}),
    "QGemm": ("Y = Gemm(X, W, B)", {"X": X}, {"W": WEIGHT, "B": BIAS}),
    "QLinearAdd": ("Y = Add(X, Z)", {"X": X, "Z": OTHER}, {}),
    "QLinearMul": ("Y = Mul(X, Z)", {"X": X, "Z": OTHER}, {}),
    "QLinearSigmoid": ("Y = Sigmoid(X)", {"X": X}, {}),
    "QLinearLeakyRelu": ("Y = LeakyRelu<alpha = 0.2>(X)", {"X": X}, {}),
    "QLinearSoftmax": ("Y = Softmax(X)", {"X": X}, {}),
    "QLinearGlobalAveragePool": ("c = Conv(X, W)\n Y = GlobalAveragePool(c)", {"X": LINE}, {"W": KERNEL}),
    "QLinearAveragePool": ("Y = AveragePool<kernel_shape = [3]>(X)", {"X": LINE}, {}),
    "QLinearConcat": ("Y = Concat<axis = 1>(X, Z)", {"X": X, "Z": OTHER}, {}),
    "MatMulInteger": ("Y = MatMul(X, W)", {"X": X}, {"W": WEIGHT}),
    "ConvInteger": ("Y = Conv(X, W)", {"X": LINE}, {"W": KERNEL}),
    "DequantizeLinear": ("Y = Gemm(X, W)", {"X": X}, {"W": WEIGHT}),
}
DYNAMIC = {"MatMulInteger", "ConvInteger"}


def quantized(name: str, model: onnx.ModelProto, inputs: dict[str, Array], folder: Path) -> onnx.ModelProto:
    path = folder / "quantized.onnx"
    if name in DYNAMIC:
        quantization.quantize_dynamic(
            model, str(path), op_types_to_quantize=["Conv", "MatMul"], weight_type=quantization.QuantType.QUInt8
        )
    else:
        formats = quantization.QuantFormat
        format_ = formats.QDQ if name == "DequantizeLinear" else formats.QOperator
        quantization.quantize_static(
            model, str(path), Reader(dict(inputs)), quant_format=format_,
            activation_type=quantization.QuantType.QUInt8, per_channel=name == "QLinearConv",
        )  # fmt: skip
    return onnx.load(path)


def results(model: onnx.ModelProto, inputs: dict[str, Array]) -> Array:
    return np.asarray(Evaluator().model(model, inputs)["Y"])


@pytest.mark.parametrize("name", CASES)
def test_a_quantized_model_without_rounding_is_the_original(name: str, tmp_path: Path) -> None:
    body, inputs, constants = CASES[name]
    model = model_of(body, inputs, **constants)
    made = quantized(name, model, inputs, tmp_path)
    assert name in {node.op_type for node in made.graph.node}
    exact = unrounded.unrounded(model, made)
    assert (exact.quantizes, exact.unlike, exact.unmatched) == (True, [], [])
    expected, rounded = results(model, inputs), results(made, inputs)
    np.testing.assert_allclose(results(exact.model, inputs), expected, rtol=1e-5, atol=1e-5)
    assert np.abs(rounded - expected).max() > 1e-4, "the quantized model rounds"


@pytest.mark.parametrize("name", sorted(CASES.keys() - DYNAMIC))
def test_another_scale_of_an_input_changes_the_results(name: str, tmp_path: Path) -> None:
    body, inputs, constants = CASES[name]
    model = model_of(body, inputs, **constants)
    made = quantized(name, model, inputs, tmp_path)
    node = next(node for node in made.graph.node if node.op_type == "QuantizeLinear" and node.input[0] == "X")
    scale = next(item for item in made.graph.initializer if item.name == node.input[1])
    made.graph.initializer.append(numpy_helper.from_array(numpy_helper.to_array(scale) * np.float32(1.1), "other"))
    node.input[1] = "other"
    exact = unrounded.unrounded(model, made)
    assert np.abs(results(exact.model, inputs) - results(model, inputs)).max() > 1e-3


def of_blocks(damage: float = 0) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """Return a product, and the same with a matrix in blocks of 16 numbers of 4 bits; `damage`: added to a scale."""
    weight = DRAW.normal(size=(32, 2)).astype(np.float32)
    model = model_of("Y = MatMul(X, W)", {"X": np.ones((1, 32), np.float32)}, W=weight)
    blocks = weight.T.reshape(2, 2, 16)
    scales = np.abs(blocks).max(2) / 7
    numbers = (np.round(blocks / scales[..., None]) + 8).astype(np.uint8)
    packed = numbers[..., ::2] | (numbers[..., 1::2] << 4)
    scales[1, 1] += damage
    node = helper.make_node(
        "MatMulNBits", ["X", "W_Q4", "scales"], ["Y"], domain="com.microsoft", K=32, N=2, bits=4, block_size=16
    )
    made = onnx.ModelProto()
    made.CopyFrom(model)
    del made.graph.node[:], made.graph.initializer[:]
    made.graph.node.append(node)
    made.graph.initializer.extend(
        [numpy_helper.from_array(packed, "W_Q4"), numpy_helper.from_array(scales.astype(np.float32), "scales")]
    )
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model, made


def test_a_matrix_in_blocks_is_compared_with_the_original() -> None:
    model, made = of_blocks()
    exact = unrounded.unrounded(model, made)
    assert (exact.unlike, exact.unmatched) == ([], [])
    inputs = {"X": np.ones((1, 32), np.float32)}
    np.testing.assert_allclose(results(exact.model, inputs), results(model, inputs), rtol=1e-5, atol=1e-5)
    (unlike,) = unrounded.unrounded(*of_blocks(damage=0.5)).unlike
    assert unlike.name == "W"


@pytest.mark.parametrize(("stored", "factor", "is_right"), [(1, 2, True), (2, 1, True), (2, 2, False), (1, 1, False)])
def test_the_factor_of_a_bias_is_in_the_node_or_in_the_constant(stored: int, factor: int, *, is_right: bool) -> None:
    model = model_of("Y = Gemm<beta = 2.0>(X, W, C)", {"X": X}, W=WEIGHT, C=BIAS)
    scale = np.float32(np.abs(BIAS).max() * stored / 127)
    numbers = np.round(BIAS * stored / scale).astype(np.int8)
    body = f"d = DequantizeLinear(C_quantized, s)\n Y = Gemm<beta = {factor}.0>(X, W, d)"
    made = model_of(body, {"X": X}, W=WEIGHT, s=scale, C_quantized=numbers)
    exact = unrounded.unrounded(model, made)
    assert (exact.unlike, exact.unmatched) == ([], [])
    expected = results(model, {"X": X})
    assert np.allclose(results(exact.model, {"X": X}), expected, rtol=1e-5, atol=1e-5) == is_right


@pytest.mark.parametrize(
    ("quantized_as", "steps", "is_unlike"), [(127, 0.9, False), (127, 1.1, True), (100, 0.4, False), (100, 0.9, True)]
)
def test_only_at_the_end_of_the_range_a_constant_may_be_a_step_away(
    quantized_as: int, steps: float, *, is_unlike: bool
) -> None:
    weight = np.array([quantized_as + steps, 1], np.float32)
    model = model_of("Y = Add(X, W)", {"X": X[:, :2]}, W=weight)
    body = "d = DequantizeLinear(W_quantized, s)\n Y = Add(X, d)"
    numbers = np.array([quantized_as, 1], np.int8)
    made = model_of(body, {"X": X[:, :2]}, s=np.array(1, np.float32), W_quantized=numbers)
    assert bool(unrounded.unrounded(model, made).unlike) == is_unlike


def test_a_range_that_ends_at_zero_replaces_a_relu() -> None:
    model = model_of("Y = Relu(X)", {"X": X})
    body = "q = QuantizeLinear(X, s, z)\n Y = DequantizeLinear(q, s, z)"
    made = model_of(body, {"X": X}, s=np.array(0.1, np.float32), z=np.array(0, np.uint8))
    exact = unrounded.unrounded(model, made)
    np.testing.assert_allclose(results(exact.model, {"X": X}), np.maximum(X, 0), rtol=1e-6)


def test_every_rule_has_a_test() -> None:
    tested = {*CASES, "MatMulNBits", "QuantizeLinear", "DynamicQuantizeLinear"}
    assert {op for _, op in unrounded.RULES} == tested


def test_an_unknown_quantized_operator_is_named() -> None:
    model = model_of("Y = MatMul(X, W)", {"X": X}, W=WEIGHT)
    made = onnx.ModelProto()
    made.CopyFrom(model)
    made.graph.node[0].op_type, made.graph.node[0].domain = "QAttention", "com.microsoft"
    with pytest.raises(unrounded.UnknownQuantizationError, match="QAttention"):
        unrounded.unrounded(model, made)


@pytest.mark.parametrize(
    ("dtype", "ends"), [(np.int8, (-128, 127)), (ml_dtypes.uint4, (0, 15)), (ml_dtypes.float8_e4m3fn, (-448, 448))]
)
def test_the_limits_of_a_type(dtype: Any, ends: tuple[float, float]) -> None:
    assert unrounded.limits(np.dtype(dtype)) == ends


def test_numbers_of_four_bits_are_unpacked_from_the_lowest() -> None:
    assert unrounded._unpacked(np.array([0x21, 0x43], np.uint8), 4).tolist() == [1, 2, 3, 4]


def test_a_computed_tensor_with_a_scale_for_each_channel_is_unknown() -> None:
    model = model_of("Y = Relu(X)", {"X": X})
    made = model_of(
        "q = QuantizeLinear<axis = 0>(X, s, z)\n d = DequantizeLinear<axis = 0>(q, s, z)\n Y = Relu(d)",
        {"X": X}, s=np.ones(3, np.float32), z=np.zeros(3, np.uint8),
    )  # fmt: skip
    assert made.graph.input[0].type.tensor_type.elem_type == TensorProto.FLOAT
    with pytest.raises(unrounded.UnknownQuantizationError, match="channel"):
        unrounded.unrounded(model, made)
