"""Scatter: an answer where the text demands a refusal

The text: «Constrain indices to integer types»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnx.checker 1.23.2
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
   ir_version: 4,
   opset_import: ["" : 9],
   producer_name: "onnx-conformance"
>
Scatter_9_index_outside (float data, float indices, float updates) => (float output) {
   [Scatter] output = Scatter (data, indices, updates)
}
""")
inputs = {
    'data': np.array([0.0], dtype=np.dtype('float32')).reshape(()),
    'indices': np.array([0.0], dtype=np.dtype('float32')).reshape(()),
    'updates': np.array([0.0], dtype=np.dtype('float32')).reshape(()),
}
print('expected: to be refused: «Constrain indices to integer types» (indices is tensor(float))')

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    import onnx.checker
    
    onnx.checker.check_model(model, full_check=False)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(0)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
