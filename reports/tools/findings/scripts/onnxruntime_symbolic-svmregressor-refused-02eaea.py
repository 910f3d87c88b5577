"""ai.onnx.ml/SVMRegressor: refused (AssertionError), float[1,1] 0 expected

The text: «Chosen support vectors»
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
model = onnx.load_from_string(b'\x08\x07\x12\x10onnx-conformance:\xec\x03\n\x90\x03\n\ntakes_then\x12\x01Y\x1a\x0fIf_SVMRegressor"\x02If*t\n\x0belse_branch2b\n=\x12\x06Y_else\x1a\x0fConstant_Y_else"\x08Constant*\x18\n\x05value*\x0c\x08\x01\x08\x01\x10\x01J\x04\x00\x00\x80?\xa0\x01\x04\x12\x11SVMRegressor_elseb\x0e\n\x06Y_else\x12\x04\n\x02\x08\x01\xa0\x01\x05*\xf3\x01\n\x0bthen_branch2\xe0\x01\n\xba\x01\n\x01X\x12\x06Y_then\x1a\x0cSVMRegressor"\x0cSVMRegressor* \n\x0ccoefficients=\x00\x00\x00\x00=\x00\x00\x00\x00=\x00\x00\x00\x00\xa0\x01\x06*!\n\rkernel_params=\x00\x00\x00\x00=\x00\x00\x00\x00=\x00\x00\x00\x00\xa0\x01\x06*\x11\n\nn_supports\x18\x03\xa0\x01\x02*\x08\n\x03rho\xa0\x01\x06*#\n\x0fsupport_vectors=\x00\x00\x00\x00=\x00\x00\x00\x00=\x00\x00\x00\x00\xa0\x01\x06:\nai.onnx.ml\x12\x11SVMRegressor_thenb\x0e\n\x06Y_then\x12\x04\n\x02\x08\x01\xa0\x01\x05\x12\x17SVMRegressor_1_examplesZ\x13\n\x01X\x12\x0e\n\x0c\x08\x01\x12\x08\n\x02\x08\x01\n\x02\x08\x01Z\x14\n\ntakes_then\x12\x06\n\x04\x08\t\x12\x00b\x13\n\x01Y\x12\x0e\n\x0c\x08\x01\x12\x08\n\x02\x08\x01\n\x02\x08\x01B\x0e\n\nai.onnx.ml\x10\x01B\x04\n\x00\x10\r')
inputs = {
    'X': np.array([0.0], dtype=np.dtype('float32')).reshape((1, 1)),
    'takes_then': np.array([True], dtype=np.dtype('bool')).reshape(()),
}
expected = [
    np.array([0.0], dtype=np.dtype('float32')).reshape((1, 1)),
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
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([np.inf], dtype=np.dtype('float64')).reshape((1, 1))]


def check(where, wanted, got, bound=0):
    assert not isinstance(got, (list, dict)) and got is not None, f"{where}: a tensor expected, {got} got"
    got = np.asarray(got)
    assert wanted.dtype == got.dtype, f"{where}: {wanted.dtype} expected, {got.dtype} got"
    assert wanted.shape == got.shape, f"{where}: shape {wanted.shape} expected, {got.shape} got"
    a, b, bound = (np.ravel(array) for array in (wanted, got, np.broadcast_to(bound, wanted.shape)))
    differs = ~((a == b) | ((a != a) & (b != b)))
    if "float" in a.dtype.name:
        with np.errstate(all="ignore"):
            wide, far = np.abs(a.astype(float)), np.abs(a.astype(float) - b.astype(float))
            near = far <= np.maximum(ATOL + (RTOL + ULP * EPS.get(a.dtype.name, 0)) * wide, bound)
        differs &= ~(near & np.isfinite(far))
    if "float" in a.dtype.name:
        differs |= (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))  # +0 and -0 differ.
    differs &= np.isfinite(bound)  # Elements without a bound may be anything.
    count = int(differs.sum())
    assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got, BOUNDS[index])
print("as expected")
