"""GroupNormalization: the process ends by SIGFPE, a refusal expected

The text: «It should be a divisor of the number of channels `C`.»
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
   ir_version: 10,
   opset_import: ["" : 21],
   producer_name: "onnx-conformance"
>
GroupNormalization_21_groups_five (float[2,1,3,2] X, float[1] scale, float[1] bias) => (float[Y_0,Y_1,Y_2,Y_3] Y) {
   [GroupNormalization] Y = GroupNormalization <num_groups: int = 5> (X, scale, bias)
}
""")
inputs = {
    'X': np.array([0.0, 1.9833296537399292, -0.5110822319984436, -1.851629376411438, 0.9882267117500305, 1.59697425365448, 0.0813865140080452, -1.9921729564666748, 0.43197453022003174, 1.8808579444885254, -0.9166508913040161, -1.6446471214294434], dtype=np.dtype('float32')).reshape((2, 1, 3, 2)),
    'scale': np.array([1.5], dtype=np.dtype('float32')).reshape((1,)),
    'bias': np.array([0.25], dtype=np.dtype('float32')).reshape((1,)),
}
print('expected: to be refused: «It should be a divisor of the number of channels `C`.»')

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
