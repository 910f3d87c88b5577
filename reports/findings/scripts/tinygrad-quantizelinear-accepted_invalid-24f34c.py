"""QuantizeLinear with y_scale and y_zero_point differ in rank: int8[2,3,4] -3 -3 -3 -2 0 0 0 1 3 3 3 4 ... where the text demands a refusal

The text: «must have the same shape, determining the quantization granularity.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and tinygrad 0.14.0
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
   ir_version: 10,
   opset_import: ["" : 21],
   producer_name: "onnx-conformance"
>
QuantizeLinear_21_scalar_and_vector (float[2,3,4] x, float y_scale, int8[3] y_zero_point) => (int8[y_0,y_1,y_2] y) {
   [QuantizeLinear] y = QuantizeLinear (x, y_scale, y_zero_point)
}
""")
inputs = {
    'x': np.array([-9.0, -8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0], dtype=np.dtype('float32')).reshape((2, 3, 4)),
    'y_scale': np.array([2.0], dtype=np.dtype('float32')).reshape(()),
    'y_zero_point': np.array([1, 2, 3], dtype=np.dtype('int8')).reshape((3,)),
}
print('expected: to be refused: «must have the same shape, determining the quantization granularity.»')

try:
    import os
    from pathlib import Path
    
    os.environ.setdefault("DEV", "CPU")  # compiles with clang, or what CC names
    
    from tinygrad.nn.onnx import OnnxRunner
    
    Path("model.onnx").write_bytes(model.SerializeToString())
    answers = OnnxRunner("model.onnx")(inputs)
    outputs = [answer.numpy() if hasattr(answer, "numpy") else answer for answer in answers.values()]
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(0)

print("got:     ", outputs)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
