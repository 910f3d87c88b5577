"""ConstantOfShape: the process ends by SIGSEGV, a refusal expected

The text: «All values must be >= 0.»
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

# onnx's text format cannot hold this model; it is the serialized ModelProto.
model = onnx.load_from_string(b'\x08\r\x12\x10onnx-conformance:\xa6\x01\nI\n\x05input\x12\x06output\x1a\x0fConstantOfShape"\x0fConstantOfShape*\x14\n\x05value*\x08\x10\x01J\x04\x00\x00\x00\x00\xa0\x01\x04:\x00\x12&ConstantOfShape_25_negative_with_valueZ\x13\n\x05input\x12\n\n\x08\x08\x07\x12\x04\n\x02\x08\x01b\x1c\n\x06output\x12\x12\n\x10\x08\x01\x12\x0c\n\n\x12\x08output_0B\x04\n\x00\x10\x19')
inputs = {
    'input': np.array([-1], dtype=np.dtype('int64')).reshape((1,)),
}
print('expected: to be refused: «All values must be >= 0.»')

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
