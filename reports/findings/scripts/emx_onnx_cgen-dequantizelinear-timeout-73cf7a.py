"""DequantizeLinear: no answer, a refusal expected

The text: «If `output_dtype` is not supplied then the output type is the same as `x_scale`. The output type also determines the precision of the multiplication operation.»
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
import ml_dtypes

model = onnx.parser.parse_model("""
<
   ir_version: 12,
   opset_import: ["" : 24],
   producer_name: "onnx-conformance"
>
DequantizeLinear_24_output_as_scale (int8[2,3,4] x, float8e8m0 x_scale) => (float8e8m0[y_0,y_1,y_2] y) {
   [DequantizeLinear] y = DequantizeLinear (x, x_scale)
}
""")
inputs = {
    'x': np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23], dtype=np.dtype('int8')).reshape((2, 3, 4)),
    'x_scale': np.frombuffer(bytes.fromhex('80'), dtype=ml_dtypes.float8_e8m0fnu).reshape(()),
}
print('expected: to be refused: «If `output_dtype` is not supplied then the output type is the same as `x_scale`. The output type also determines the precision of the multiplication operation.» (y is tensor(float8e8m0))')

try:
    from emx_onnx_cgen import onnx_backend
    
    outputs = onnx_backend.run_model(model, list(inputs.values()))
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(0)

print("got:     ", outputs)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
