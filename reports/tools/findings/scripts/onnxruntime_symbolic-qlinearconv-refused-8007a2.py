"""QLinearConv with form is @unranked: refused (AssertionError), uint8[1,1,1,1] 0 expected

The text: «The output dimensions are functions of the kernel size, stride size, and pad lengths.»
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
QLinearConv_10_batch (int8[x_size] x_data, int64[x_rank] x_shape, float[x_scale_size] x_scale_data, int64[x_scale_rank] x_scale_shape, int8[x_zero_point_size] x_zero_point_data, int64[x_zero_point_rank] x_zero_point_shape, int8[w_size] w_data, int64[w_rank] w_shape, float[w_scale_size] w_scale_data, int64[w_scale_rank] w_scale_shape, int8[w_zero_point_size] w_zero_point_data, int64[w_zero_point_rank] w_zero_point_shape, float[y_scale_size] y_scale_data, int64[y_scale_rank] y_scale_shape, uint8[y_zero_point_size] y_zero_point_data, int64[y_zero_point_rank] y_zero_point_shape) => (uint8[y_0,y_1,y_2,y_3] y) {
   [Reshape_x] x = Reshape (x_data, x_shape)
   [Reshape_x_scale] x_scale = Reshape (x_scale_data, x_scale_shape)
   [Reshape_x_zero_point] x_zero_point = Reshape (x_zero_point_data, x_zero_point_shape)
   [Reshape_w] w = Reshape (w_data, w_shape)
   [Reshape_w_scale] w_scale = Reshape (w_scale_data, w_scale_shape)
   [Reshape_w_zero_point] w_zero_point = Reshape (w_zero_point_data, w_zero_point_shape)
   [Reshape_y_scale] y_scale = Reshape (y_scale_data, y_scale_shape)
   [Reshape_y_zero_point] y_zero_point = Reshape (y_zero_point_data, y_zero_point_shape)
   [QLinearConv] y = QLinearConv (x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point)
}
""")
inputs = {
    'x_data': np.array([0], dtype=np.dtype('int8')).reshape((1,)),
    'x_shape': np.array([1, 1, 1, 1], dtype=np.dtype('int64')).reshape((4,)),
    'x_scale_data': np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
    'x_scale_shape': np.array([], dtype=np.dtype('int64')).reshape((0,)),
    'x_zero_point_data': np.array([0], dtype=np.dtype('int8')).reshape((1,)),
    'x_zero_point_shape': np.array([], dtype=np.dtype('int64')).reshape((0,)),
    'w_data': np.array([0], dtype=np.dtype('int8')).reshape((1,)),
    'w_shape': np.array([1, 1, 1, 1], dtype=np.dtype('int64')).reshape((4,)),
    'w_scale_data': np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
    'w_scale_shape': np.array([], dtype=np.dtype('int64')).reshape((0,)),
    'w_zero_point_data': np.array([0], dtype=np.dtype('int8')).reshape((1,)),
    'w_zero_point_shape': np.array([], dtype=np.dtype('int64')).reshape((0,)),
    'y_scale_data': np.array([1.0], dtype=np.dtype('float32')).reshape((1,)),
    'y_scale_shape': np.array([], dtype=np.dtype('int64')).reshape((0,)),
    'y_zero_point_data': np.array([0], dtype=np.dtype('uint8')).reshape((1,)),
    'y_zero_point_shape': np.array([], dtype=np.dtype('int64')).reshape((0,)),
}
expected = [
    np.array([0], dtype=np.dtype('uint8')).reshape((1, 1, 1, 1)),
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
