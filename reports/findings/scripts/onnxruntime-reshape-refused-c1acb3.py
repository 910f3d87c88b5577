"""Reshape with form is @external_data: refused (...Cannot parse data from external tensors. Please load external data into raw data for tensor: shape), float[1] 0 expected

The text: «Reshape the input tensor similar to numpy.reshape.»
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
model = onnx.load_from_string(b'\x08\x03\x12\x10onnx-conformance:\xc4\x01\n+\n\x04data\n\x05shape\x12\x08reshaped\x1a\x07Reshape"\x07Reshape:\x00\x12\x11Reshape_5_flatten*E\x08\x01\x10\x07B\x05shapej\x1b\n\x08location\x12\x0fmodel.onnx.dataj\x0c\n\x06offset\x12\x0264j\x0b\n\x06length\x12\x018p\x01Z\x0e\n\x04data\x12\x06\n\x04\x08\x01\x12\x00Z\x13\n\x05shape\x12\n\n\x08\x08\x07\x12\x04\n\x02\x08\x01b\x16\n\x08reshaped\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01B\x04\n\x00\x10\x05')
inputs = {
    'data': np.array([0.0], dtype=np.dtype('float32')).reshape(()),
}
files = {
    'model.onnx.data': bytes.fromhex('ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0100000000000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff'),
}
import pathlib
import tempfile

folder = tempfile.TemporaryDirectory()
for name, data in {"model.onnx": model.SerializeToString(), **files}.items():
    pathlib.Path(folder.name, name).write_bytes(data)
path = str(pathlib.Path(folder.name, "model.onnx"))

expected = [
    np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
]
print("expected:", expected)

try:
    import onnxruntime
    
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    outputs = session.run(None, inputs)
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
    if wanted.dtype.kind == "f":  # +0 and -0 differ.
        signs = (np.signbit(np.asarray(array)[wanted == 0]) for array in (got, wanted))
        np.testing.assert_array_equal(*signs, f"outputs[{index}], signs of zeros")
print("as expected")
