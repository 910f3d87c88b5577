"""QLinearConv with w_zero_point has a zero: refused (Input Tensor shape (1, 1, 1) does not match the shape of the weights (1, 1, 1, 1). (1 vs. 1)), uint8[1,1,1] 0 expected

The text: «The convolution operator consumes a quantized input tensor, its scale and zero point, a quantized filter, its scale and zero point, and output's scale and zero point, and computes the quantized output.»
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
   ir_version: 5,
   opset_import: ["" : 10],
   producer_name: "onnx-conformance"
>
QLinearConv_10_rounds_to_nearest (int8[1,1,1] x, float x_scale, int8 x_zero_point, int8[1,1,1] w, float w_scale, int8 w_zero_point, float y_scale, uint8 y_zero_point) => (uint8[1,1,1] y) {
   [QLinearConv] y = QLinearConv (x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point)
}
""")
inputs = {
    'x': np.array([0], dtype=np.dtype('int8')).reshape((1, 1, 1)),
    'x_scale': np.array([0.0], dtype=np.dtype('float32')).reshape(()),
    'x_zero_point': np.array([0], dtype=np.dtype('int8')).reshape(()),
    'w': np.array([0], dtype=np.dtype('int8')).reshape((1, 1, 1)),
    'w_scale': np.array([0.0], dtype=np.dtype('float32')).reshape(()),
    'w_zero_point': np.array([0], dtype=np.dtype('int8')).reshape(()),
    'y_scale': np.array([1.0], dtype=np.dtype('float32')).reshape(()),
    'y_zero_point': np.array([0], dtype=np.dtype('uint8')).reshape(()),
}
expected = [
    np.array([0], dtype=np.dtype('uint8')).reshape((1, 1, 1)),
]
print("expected:", expected)

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
    os._exit(102)

print("got:     ", outputs)

assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    assert isinstance(got, (np.ndarray, np.generic)), f"outputs[{index}]: a tensor expected, {got} got"
    np.testing.assert_array_equal(got, wanted, f"outputs[{index}]", strict=True)
print("as expected")
