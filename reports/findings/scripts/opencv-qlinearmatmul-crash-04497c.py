"""QLinearMatMul with b has a dimension of size 0: the process ends by SIGSEGV, int8[1,0] expected

The text: «Matrix product that behaves like [numpy.matmul](https://numpy.org/doc/stable/reference/generated/numpy.matmul.html).»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and opencv-python-headless 5.0.0.93
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
QLinearMatMul_10_shapes_2x4_and_4x0 (int8[1,1] a, float a_scale, int8 a_zero_point, int8[1,0] b, float b_scale, int8 b_zero_point, float y_scale, int8 y_zero_point) => (int8[1,0] y) {
   [QLinearMatMul] y = QLinearMatMul (a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point)
}
""")
inputs = {
    'a': np.array([0], dtype=np.dtype('int8')).reshape((1, 1)),
    'a_scale': np.array([0.0], dtype=np.dtype('float32')).reshape(()),
    'a_zero_point': np.array([0], dtype=np.dtype('int8')).reshape(()),
    'b': np.array([], dtype=np.dtype('int8')).reshape((1, 0)),
    'b_scale': np.array([0.0], dtype=np.dtype('float32')).reshape(()),
    'b_zero_point': np.array([0], dtype=np.dtype('int8')).reshape(()),
    'y_scale': np.array([0.5], dtype=np.dtype('float32')).reshape(()),
    'y_zero_point': np.array([7], dtype=np.dtype('int8')).reshape(()),
}
expected = [
    np.array([], dtype=np.dtype('int8')).reshape((1, 0)),
]
print("expected:", expected)

try:
    import cv2
    import numpy
    
    net = cv2.dnn.readNetFromONNX(numpy.frombuffer(model.SerializeToString(), numpy.uint8))
    for name, value in inputs.items():
        net.setInput(value, name)
    outputs = list(net.forward([value.name for value in model.graph.output]))
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
