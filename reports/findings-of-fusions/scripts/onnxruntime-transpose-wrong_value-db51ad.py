"""Transpose: 1.0 expected, 0.0 came

The text: «If conditional»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxruntime 1.31.1
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
model = onnx.load_from_string(b'\x08\x08:\xfd\x02\n\x99\x02\n\tcondition\x12\x07y_of_if\x1a\x02If"\x02If*\x83\x01\n\x0belse_branch2q\nY\x12\x06y_else\x1a\x0fConstant_y_else"\x08Constant*4\n\x05value*(\x08\x02\x08\x04\x10\x01J \x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xa0\x01\x04\x12\x04elseb\x0e\n\x06y_else\x12\x04\n\x02\x08\x01\xa0\x01\x05*u\n\x0bthen_branch2c\n1\n\x01x\x12\x01t\x1a\x0bTranspose_0"\tTranspose*\x0f\n\x04perm@\x00@\x02@\x01\xa0\x01\x07:\x00\n\x1d\n\x01t\n\x01w\x12\x01y\x1a\x08MatMul_1"\x06MatMul:\x00\x12\x04thenb\t\n\x01y\x12\x04\n\x02\x08\x01\xa0\x01\x05\x12\x05graphZ\x13\n\tcondition\x12\x06\n\x04\x08\t\x12\x00Z\x17\n\x01x\x12\x12\n\x10\x08\x01\x12\x0c\n\x02\x08\x01\n\x02\x08\x02\n\x02\x08\x02Z\x0f\n\x01w\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x02b\x19\n\x07y_of_if\x12\x0e\n\x0c\x08\x01\x12\x08\n\x02\x08\x01\n\x02\x08\x02B\x04\n\x00\x10\x12')
inputs = {
    'condition': np.array([True], dtype=np.dtype('bool')).reshape(()),
    'x': np.array([0.0, 0.0, 1.0, 0.0], dtype=np.dtype('float32')).reshape((1, 2, 2)),
    'w': np.array([0.0, 1.0], dtype=np.dtype('float32')).reshape((2,)),
}
expected = [
    np.array([1.0, 0.0], dtype=np.dtype('float32')).reshape((1, 2)),
]
print("expected:", expected)

try:
    import onnxruntime
    
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = session.run(None, inputs)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([2.7917316548817153e-07, 0.0], dtype=np.dtype('float64')).reshape((1, 2))]


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
    count = int(differs.sum())
    assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got, BOUNDS[index])
print("as expected")
