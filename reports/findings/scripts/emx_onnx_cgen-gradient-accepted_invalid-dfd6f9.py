"""ai.onnx.preview.training/Gradient with zs is not set: float[] 21; float[] 3; float[] 15; float[] 35 where the text demands a refusal

The text: «Variables (usually called intermediate variables) that can be generated from inputs cannot be included in this attribute.»
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
   ir_version: 14,
   opset_import: ["ai.onnx.preview.training" : 1, "" : 28],
   producer_name: "onnx-conformance"
>
Gradient_1_intermediate_in_xs (float W, float X, float A) => (float[] Outputs_0, float[] Outputs_1, float[] Outputs_2, float[] Outputs_3) {
   H = Mul (W, X)
   Y = Mul (H, A)
   [Gradient] Outputs_0, Outputs_1, Outputs_2, Outputs_3 = ai.onnx.preview.training.Gradient <xs: strings = ["W", "H", "X", "A"], y: string = "Y"> (W, H, X, A)
}
""")
inputs = {
    'W': np.array([5.0], dtype=np.dtype('float32')).reshape(()),
    'X': np.array([7.0], dtype=np.dtype('float32')).reshape(()),
    'A': np.array([3.0], dtype=np.dtype('float32')).reshape(()),
}
print('expected: to be refused: «Variables (usually called intermediate variables) that can be generated from inputs cannot be included in this attribute.»')

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
