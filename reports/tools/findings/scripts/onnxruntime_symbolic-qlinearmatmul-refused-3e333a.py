"""QLinearMatMul with form is @unranked: refused (AssertionError), int8[1,1] 0 expected

The text: «Scalar refers to per tensor quantization whereas N-D refers to per row or per column quantization.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxruntime's symbolic shape inference 1.31.1
"""

import os
import subprocess
import sys

if sys.argv[1:] != ["once"]:  # In a process of its own: what the runtime does may end it, or never end.
    try:
        status = subprocess.run([sys.executable, __file__, "once"], timeout=30).returncode
    except subprocess.TimeoutExpired:
        status = "timeout"
    words = {0: "", 2: None, 101: "wrong", 102: "refused", 103: "accepted", 104: "invalid", "timeout": "timeout"}
    word = words.get(status, f"crash, status {status}")
    if word is None:
        sys.exit(2)
    print('the fault is there: ' + word if word else 'the fault is gone: what was expected came')
    sys.exit(1 if word else 0)


def ended(kind, error, trace):
    print(f"{kind.__name__}: {error}", flush=True)
    os._exit(101 if issubclass(kind, AssertionError) else 2)


sys.excepthook = ended

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser

model = onnx.parser.parse_model("""
<
   ir_version: 5,
   opset_import: ["" : 10],
   producer_name: "onnx-conformance"
>
QLinearMatMul_10_plain (int8[a_size] a_data, int64[a_rank] a_shape, float[a_scale_size] a_scale_data, int64[a_scale_rank] a_scale_shape, int8[a_zero_point_size] a_zero_point_data, int64[a_zero_point_rank] a_zero_point_shape, int8[b_size] b_data, int64[b_rank] b_shape, float[b_scale_size] b_scale_data, int64[b_scale_rank] b_scale_shape, int8[b_zero_point_size] b_zero_point_data, int64[b_zero_point_rank] b_zero_point_shape, float[y_scale_size] y_scale_data, int64[y_scale_rank] y_scale_shape, int8[y_zero_point_size] y_zero_point_data, int64[y_zero_point_rank] y_zero_point_shape) => (int8[y_0,y_1] y) {
   [Reshape_a] a = Reshape (a_data, a_shape)
   [Reshape_a_scale] a_scale = Reshape (a_scale_data, a_scale_shape)
   [Reshape_a_zero_point] a_zero_point = Reshape (a_zero_point_data, a_zero_point_shape)
   [Reshape_b] b = Reshape (b_data, b_shape)
   [Reshape_b_scale] b_scale = Reshape (b_scale_data, b_scale_shape)
   [Reshape_b_zero_point] b_zero_point = Reshape (b_zero_point_data, b_zero_point_shape)
   [Reshape_y_scale] y_scale = Reshape (y_scale_data, y_scale_shape)
   [Reshape_y_zero_point] y_zero_point = Reshape (y_zero_point_data, y_zero_point_shape)
   [QLinearMatMul] y = QLinearMatMul (a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point)
}
""")
inputs = {
    'a_data': np.array([0], dtype=np.dtype('int8')).reshape((1,)),
    'a_shape': np.array([1, 1], dtype=np.dtype('int64')).reshape((2,)),
    'a_scale_data': np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
    'a_scale_shape': np.array([], dtype=np.dtype('int64')).reshape((0,)),
    'a_zero_point_data': np.array([0], dtype=np.dtype('int8')).reshape((1,)),
    'a_zero_point_shape': np.array([], dtype=np.dtype('int64')).reshape((0,)),
    'b_data': np.array([0], dtype=np.dtype('int8')).reshape((1,)),
    'b_shape': np.array([1, 1], dtype=np.dtype('int64')).reshape((2,)),
    'b_scale_data': np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
    'b_scale_shape': np.array([], dtype=np.dtype('int64')).reshape((0,)),
    'b_zero_point_data': np.array([0], dtype=np.dtype('int8')).reshape((1,)),
    'b_zero_point_shape': np.array([], dtype=np.dtype('int64')).reshape((0,)),
    'y_scale_data': np.array([1.0], dtype=np.dtype('float32')).reshape((1,)),
    'y_scale_shape': np.array([], dtype=np.dtype('int64')).reshape((0,)),
    'y_zero_point_data': np.array([0], dtype=np.dtype('int8')).reshape((1,)),
    'y_zero_point_shape': np.array([], dtype=np.dtype('int64')).reshape((0,)),
}
expected = [
    np.array([0], dtype=np.dtype('int8')).reshape((1, 1)),
]
print("expected:", expected)

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference
    
    for output in model.graph.output:
        output.ClearField("type")
    model = SymbolicShapeInference.infer_shapes(model)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

for name, wanted in zip(names, expected):
    type_ = next(item.type for item in model.graph.output if item.name == name)
    print(f"inferred of {name}: {type_}")
    if not isinstance(wanted, np.ndarray) or not type_.WhichOneof("value"):
        continue
    tensor = type_.tensor_type
    number = onnx.helper.np_dtype_to_tensor_dtype(wanted.dtype)
    assert tensor.elem_type in {0, number}, f"{name}: element type {number} expected, {tensor.elem_type} inferred"
    if tensor.HasField("shape"):
        sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]
        fits = len(sizes) == wanted.ndim and all(a in (None, b) for a, b in zip(sizes, wanted.shape))
        assert fits, f"{name}: shape {wanted.shape} expected, {sizes} inferred"
outputs = expected

print("got:     ", outputs)

assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    assert isinstance(got, (np.ndarray, np.generic)), f"outputs[{index}]: a tensor expected, {got} got"
    np.testing.assert_array_equal(got, wanted, f"outputs[{index}]", strict=True)
print("as expected")
