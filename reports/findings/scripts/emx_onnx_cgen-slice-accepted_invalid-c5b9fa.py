"""Slice: float[10,10] 1 1 1 1 1 1 1 1 1 1 4 4 ... where the text demands a refusal

The text: «Accepted range is [-r, r-1] where r = rank(data).»
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
   ir_version: 6,
   opset_import: ["" : 11],
   producer_name: "onnx-conformance"
>
Slice_11_axis_0_outside (float[5,3] data, int64[1] starts, int64[1] ends, int64[1] axes) => (float[output_0,output_1] output) {
   [Slice] output = Slice (data, starts, ends, axes)
}
""")
inputs = {
    'data': np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0], dtype=np.dtype('float32')).reshape((5, 3)),
    'starts': np.array([1], dtype=np.dtype('int64')).reshape((1,)),
    'ends': np.array([3], dtype=np.dtype('int64')).reshape((1,)),
    'axes': np.array([-3], dtype=np.dtype('int64')).reshape((1,)),
}
print('expected: to be refused: «Accepted range is [-r, r-1] where r = rank(data).»')

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
