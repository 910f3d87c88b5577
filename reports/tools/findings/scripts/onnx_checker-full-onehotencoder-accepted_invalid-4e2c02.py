"""ai.onnx.ml/OneHotEncoder with type is string: an answer where the text demands a refusal

The text: «if false and a category if not found, the operator will fail.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnx.checker, full 1.23.2
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

# onnx's text format cannot hold this model; it is the serialized ModelProto.
model = onnx.load_from_string(b'\x08\x03\x12\x10onnx-conformance:\x95\x01\nQ\n\x01X\x12\x01Y\x1a\rOneHotEncoder"\rOneHotEncoder*\x11\n\x0ccats_strings\xa0\x01\x08*\x0c\n\x05zeros\x18\x00\xa0\x01\x02:\nai.onnx.ml\x12\x1fOneHotEncoder_1_missing_stringsZ\x0b\n\x01X\x12\x06\n\x04\x08\x08\x12\x00b\x12\n\x01Y\x12\r\n\x0b\x08\x01\x12\x07\n\x05\x12\x03Y_0B\x0e\n\nai.onnx.ml\x10\x01')
inputs = {
    'X': np.array([''], dtype=object).reshape(()),
}
print('expected: to be refused: «if false and a category if not found, the operator will fail.»')

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    import onnx.checker
    
    onnx.checker.check_model(model, full_check=True)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(0)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
