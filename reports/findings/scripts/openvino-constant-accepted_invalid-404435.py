"""Constant with type of value is float: float[] 0 where the text demands a refusal

The text: «Exactly one of the two attributes, either value or sparse_value, must be specified.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and openvino 2026.4.1
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
model = onnx.load_from_string(b'\x08\x06\x12\x10onnx-conformance:\xba\x01\nr\x12\x06output\x1a\x08Constant"\x08Constant*>\n\x0csparse_value\xa0\x01\x0b\xb2\x01*\n\x0e\x08\x02\x10\x01J\x08\x00\x00\xa0@\x00\x00\xc0@\x12\x16\x08\x02\x10\x07J\x10\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x18\x02*\x12\n\x05value*\x06\x08\x00\x10\x01J\x00\xa0\x01\x04:\x00\x12&Constant_11_value_and_sparse_before_12b\x1c\n\x06output\x12\x12\n\x10\x08\x01\x12\x0c\n\n\x12\x08output_0B\x04\n\x00\x10\x0b')
inputs = {
}
print('expected: to be refused: «Exactly one of the two attributes, either value or sparse_value, must be specified.»')

try:
    import openvino
    
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU")
    request = compiled.create_infer_request()
    names = {name for port in compiled.inputs for name in port.names}
    request.infer({name: value for name, value in inputs.items() if name in names})
    outputs = [request.get_tensor(value.name).data.copy() for value in model.graph.output]
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(0)

print("got:     ", outputs)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
