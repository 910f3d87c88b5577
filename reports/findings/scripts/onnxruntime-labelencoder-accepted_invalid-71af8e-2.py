"""ai.onnx.ml/LabelEncoder: int64[] 0 where the text demands a refusal

The text: «Only one default value attribute should be defined.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxruntime 1.32.0
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
model = onnx.load_from_string(b'\x08\x03\x12\x10onnx-conformance:\xab\x01\nr\n\x01X\x12\x01Y\x1a\x0cLabelEncoder"\x0cLabelEncoder*\x14\n\x0fclasses_strings\xa0\x01\x08*\x14\n\rdefault_int64\x18\x00\xa0\x01\x02*\x16\n\x0edefault_string"\x01x\xa0\x01\x03:\nai.onnx.ml\x12\x1bLabelEncoder_1_two_defaultsZ\x0b\n\x01X\x12\x06\n\x04\x08\x08\x12\x00b\x0b\n\x01Y\x12\x06\n\x04\x08\x07\x12\x00B\x0e\n\nai.onnx.ml\x10\x01')
inputs = {
    'X': np.array([''], dtype=object).reshape(()),
}
print('expected: to be refused: «Only one default value attribute should be defined.»')

try:
    import onnxruntime
    
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = session.run(None, inputs)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(0)

print("got:     ", outputs)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
