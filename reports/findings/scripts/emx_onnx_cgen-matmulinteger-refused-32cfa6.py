"""MatMulInteger with A and a_zero_point differ in rank: refused (...shape=(3,), dim_params=(None,)]], outputs=[Y: tensor[dtype=int32, shape=(3, 2), dim_params=(None, None)]])), int32[3,2] 24 59 38 18 -2 -4 expected

The text: «If the input is 2D of shape [M, K] then zero point tensor may be an M element vector [zp_1, zp_2, ..., zp_M].»
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
   ir_version: 5,
   opset_import: ["" : 10],
   producer_name: "onnx-conformance"
>
MatMulInteger_10_rows (int8[3,4] A, int8[4,2] B, int8[3] a_zero_point) => (int32[3,2] Y) {
   [MatMulInteger] Y = MatMulInteger (A, B, a_zero_point)
}
""")
inputs = {
    'A': np.array([3, 7, 0, 5, 1, 2, 9, 4, 6, 8, 7, 11], dtype=np.dtype('int8')).reshape((3, 4)),
    'B': np.array([2, 5, 0, 3, 4, 1, 6, 8], dtype=np.dtype('int8')).reshape((4, 2)),
    'a_zero_point': np.array([1, 2, 9], dtype=np.dtype('int8')).reshape((3,)),
}
expected = [
    np.array([24, 59, 38, 18, -2, -4], dtype=np.dtype('int32')).reshape((3, 2)),
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
