"""ai.onnx.ml/CastMap: refused (AssertionError), float[4] 8 -2 4 7 expected

The text: «The output is a 1-D tensor of string, float, or integer.»
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

# onnx's text format cannot hold this model; it is the serialized ModelProto.
model = onnx.load_from_string(b'\x08\x07\x12\x10onnx-conformance:\xc9\x02\n\xf7\x01\n\ntakes_then\x12\x01Y\x1a\nIf_CastMap"\x02If*y\n\x0belse_branch2g\nG\x12\x06Y_else\x1a\x0fConstant_Y_else"\x08Constant*"\n\x05value*\x16\x08\x04\x10\x01J\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xa0\x01\x04\x12\x0cCastMap_elseb\x0e\n\x06Y_else\x12\x04\n\x02\x08\x01\xa0\x01\x05*[\n\x0bthen_branch2I\n)\n\x01X\x12\x06Y_then\x1a\x07CastMap"\x07CastMap:\nai.onnx.ml\x12\x0cCastMap_thenb\x0e\n\x06Y_then\x12\x04\n\x02\x08\x01\xa0\x01\x05\x12\x15CastMap_1_dense_floatZ\x0f\n\x01X\x12\n*\x08\x08\x07\x12\x04\n\x02\x08\x01Z\x14\n\ntakes_then\x12\x06\n\x04\x08\t\x12\x00b\x0f\n\x01Y\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x04B\x0e\n\nai.onnx.ml\x10\x01B\x04\n\x00\x10\r')
inputs = {
    'X': {5: np.array([4.0], dtype=np.dtype('float32')).reshape(()), -3: np.array([8.0], dtype=np.dtype('float32')).reshape(()), 0: np.array([-2.0], dtype=np.dtype('float32')).reshape(()), 1099511627776: np.array([7.0], dtype=np.dtype('float32')).reshape(())},
    'takes_then': np.array([True], dtype=np.dtype('bool')).reshape(()),
}
expected = [
    np.array([8.0, -2.0, 4.0, 7.0], dtype=np.dtype('float32')).reshape((4,)),
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
