"""Sub with form is @unranked: refused (Variable output dim 0 is out of range for shape ()), float[2,3] -23 -12 -1 7 9 11 expected

The text: «Performs element-wise binary subtraction»
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

model = onnx.parser.parse_model("""
<
   ir_version: 3,
   opset_import: ["" : 5],
   producer_name: "onnx-conformance"
>
Sub_1_same_shape (float[A_size] A_data, int64[A_rank] A_shape, float[B_size] B_data, int64[B_rank] B_shape) => (float[C_0,C_1] C) {
   [Reshape_A] A = Reshape (A_data, A_shape)
   [Reshape_B] B = Reshape (B_data, B_shape)
   [Sub] C = Sub (A, B)
}
""")
inputs = {
    'A_data': np.array([7.0, 8.0, 9.0, 10.0, 11.0, 12.0], dtype=np.dtype('float32')).reshape((6,)),
    'A_shape': np.array([2, 3], dtype=np.dtype('int64')).reshape((2,)),
    'B_data': np.array([30.0, 20.0, 10.0, 3.0, 2.0, 1.0], dtype=np.dtype('float32')).reshape((6,)),
    'B_shape': np.array([2, 3], dtype=np.dtype('int64')).reshape((2,)),
}
expected = [
    np.array([-23.0, -12.0, -1.0, 7.0, 9.0, 11.0], dtype=np.dtype('float32')).reshape((2, 3)),
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

assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    assert isinstance(got, (np.ndarray, np.generic)), f"outputs[{index}]: a tensor expected, {got} got"
    np.testing.assert_array_equal(got, wanted, f"outputs[{index}]", strict=True)
print("as expected")
