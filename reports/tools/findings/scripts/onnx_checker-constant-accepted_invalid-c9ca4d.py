"""Constant: an answer where the text demands a refusal

The text: Signature: the type of each input is one that the operator allows.
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnx.checker 1.23.2
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
model = onnx.load_from_string(b'\x08\x04\x12\x10onnx-conformance:x\n2\x12\x06output\x1a\x08Constant"\x08Constant*\x12\n\x05value*\x06\x08\x00\x10\x10J\x00\xa0\x01\x04:\x00\x12$Constant_9_signature_types_outside_tb\x1c\n\x06output\x12\x12\n\x10\x08\x10\x12\x0c\n\n\x12\x08output_0B\x04\n\x00\x10\t')
inputs = {
}
print('expected: to be refused: Signature: the type of each input is one that the operator allows. (output is tensor(bfloat16))')

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    import onnx.checker
    
    onnx.checker.check_model(model, full_check=False)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(0)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
