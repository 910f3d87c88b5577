"""ai.onnx.ml/LabelEncoder with type of default_tensor is int32: int32[] 0 where the text demands a refusal

The text: «The type of the 'default_*' attribute must match the 'values_*'»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnx.reference 1.23.2
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
model = onnx.load_from_string(b'\x08\t\x12\x10onnx-conformance:\xcb\x01\n\x81\x01\n\x01X\x12\x01Y\x1a\x0cLabelEncoder"\x0cLabelEncoder*\x1d\n\x0edefault_tensor*\x08\x10\x06J\x04\x00\x00\x00\x00\xa0\x01\x04*\x12\n\x0bkeys_int64s@\x00\xa0\x01\x07*\x1e\n\rvalues_tensor*\n\x08\x01\x10\x01J\x04\x00\x00\x00\x00\xa0\x01\x04:\nai.onnx.ml\x12+LabelEncoder_4_default_tensor_of_other_typeZ\x0b\n\x01X\x12\x06\n\x04\x08\x07\x12\x00b\x0b\n\x01Y\x12\x06\n\x04\x08\x01\x12\x00B\x0e\n\nai.onnx.ml\x10\x04')
inputs = {
    'X': np.array([0], dtype=np.dtype('int64')).reshape(()),
}
print("expected: to be refused: «The type of the 'default_*' attribute must match the 'values_*'»")

try:
    import onnx.reference
    
    outputs = onnx.reference.ReferenceEvaluator(model).run(None, inputs)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(0)

print("got:     ", outputs)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
