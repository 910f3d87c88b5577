"""DFT with rank of input >= 3: float[1,2] 0 0 where the text demands a refusal

The text: «Accepted range is $[-r, -2] \\cup [0, r-2]$ where `r = rank(input)`.»
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
   ir_version: 9,
   opset_import: ["" : 20],
   producer_name: "onnx-conformance"
>
DFT_20_rank3_axis_last (float[1,1] input, int64 axis) => (float[output_0,output_1] output) {
   [DFT] output = DFT (input, "", axis)
}
""")
inputs = {
    'input': np.array([0.0], dtype=np.dtype('float32')).reshape((1, 1)),
    'axis': np.array([1], dtype=np.dtype('int64')).reshape(()),
}
print('expected: to be refused: «Accepted range is $[-r, -2] \\cup [0, r-2]$ where `r = rank(input)`.»')

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
    os._exit(0)

print("got:     ", outputs)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
