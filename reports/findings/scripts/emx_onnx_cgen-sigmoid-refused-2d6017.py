"""Sigmoid with form is @if_branch: refused (...tensor[dtype=float, shape=(5,), dim_params=(None,)]], outputs=[If_Sigmoid_then_value_0_0: <missing>])), float[5] 0.731059 0.2227 0.622459 0.952574 0.320821 expected

The text: «Sigmoid takes one input data (Tensor<T>) and produces one output data (Tensor<T>)»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and emx-onnx-cgen 1.4.0
"""

import os
import subprocess
import sys

if sys.argv[1:] != ["once"]:  # In a process of its own: what the runtime does may end it, or never end.
    try:
        status = subprocess.run([sys.executable, __file__, "once"], timeout=30).returncode
    except subprocess.TimeoutExpired:
        status = "timeout"
    words = {0: "", 2: None, 101: "wrong", 102: "refused", 103: "accepted", "timeout": "timeout"}
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
model = onnx.load_from_string(b'\x08\x03\x12\x10onnx-conformance:\xbd\x02\n\xf1\x01\n\ntakes_then\x12\x01Y\x1a\nIf_Sigmoid"\x02If*}\n\x0belse_branch2k\nK\x12\x06Y_else\x1a\x0fConstant_Y_else"\x08Constant*&\n\x05value*\x1a\x08\x05\x10\x01J\x14\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xa0\x01\x04\x12\x0cSigmoid_elseb\x0e\n\x06Y_else\x12\x04\n\x02\x08\x01\xa0\x01\x05*Q\n\x0bthen_branch2?\n\x1f\n\x01X\x12\x06Y_then\x1a\x07Sigmoid"\x07Sigmoid:\x00\x12\x0cSigmoid_thenb\x0e\n\x06Y_then\x12\x04\n\x02\x08\x01\xa0\x01\x05\x12\x0fSigmoid_1_rank1Z\x0f\n\x01X\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x05Z\x14\n\ntakes_then\x12\x06\n\x04\x08\t\x12\x00b\x0f\n\x01Y\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x05B\x04\n\x00\x10\x01')
inputs = {
    'X': np.array([1.0, -1.25, 0.5, 3.0, -0.75], dtype=np.dtype('float32')).reshape((5,)),
    'takes_then': np.array([True], dtype=np.dtype('bool')).reshape(()),
}
expected = [
    np.array([0.7310585975646973, 0.22270013391971588, 0.622459352016449, 0.9525741338729858, 0.3208213150501251], dtype=np.dtype('float32')).reshape((5,)),
]
print("expected:", expected)

try:
    from emx_onnx_cgen import onnx_backend
    
    outputs = onnx_backend.run_model(model, list(inputs.values()))
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([5.119890469501853e-07, 3.189789269178141e-07, 5.412626615480884e-07, 3.8799214969825016e-07, 3.656623374523932e-07], dtype=np.dtype('float64')).reshape((5,))]


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
