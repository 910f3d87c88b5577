"""QuantizeLinear: 1 expected, 0 came

The text: «If conditional»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxruntime 1.31.1
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
model = onnx.load_from_string(b'\x08\x08:\x80\x05\n\xad\x03\n\tcondition\x12\x07y_of_if\x1a\x02If"\x02If*r\n\x0belse_branch2`\nH\x12\x06y_else\x1a\x0fConstant_y_else"\x08Constant*#\n\x05value*\x17\x08\x03\x08\x05\x10\x02J\x0f\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xa0\x01\x04\x12\x04elseb\x0e\n\x06y_else\x12\x04\n\x02\x08\x02\xa0\x01\x05*\x9a\x02\n\x0bthen_branch2\x87\x02\n6\n\x01x\n\x02sx\n\x02zx\x12\x01d\x1a\x12DequantizeLinear_0"\x10DequantizeLinear:\x00\n6\n\x01w\n\x02sw\n\x02zw\x12\x01e\x1a\x12DequantizeLinear_1"\x10DequantizeLinear:\x00\n2\n\x01b\n\x02sb\x12\x01c\x1a\x12DequantizeLinear_2"\x10DequantizeLinear:\x00\n\x1c\n\x01d\n\x01e\n\x01c\x12\x01f\x1a\x06Gemm_3"\x04Gemm:\x00\n2\n\x01f\n\x02so\n\x02zy\x12\x01y\x1a\x10QuantizeLinear_4"\x0eQuantizeLinear:\x00\x12\x04thenb\t\n\x01y\x12\x04\n\x02\x08\x02\xa0\x01\x05\x12\x05graphZ\x13\n\tcondition\x12\x06\n\x04\x08\t\x12\x00Z\x13\n\x01x\x12\x0e\n\x0c\x08\x02\x12\x08\n\x02\x08\x01\n\x02\x08\x01Z\x0c\n\x02sx\x12\x06\n\x04\x08\x01\x12\x00Z\x0c\n\x02sw\x12\x06\n\x04\x08\x01\x12\x00Z\x0c\n\x02zx\x12\x06\n\x04\x08\x02\x12\x00Z\x0c\n\x02zy\x12\x06\n\x04\x08\x02\x12\x00Z\x13\n\x01w\x12\x0e\n\x0c\x08\x02\x12\x08\n\x02\x08\x01\n\x02\x08\x01Z\x0c\n\x02zw\x12\x06\n\x04\x08\x02\x12\x00Z\x0c\n\x02so\x12\x06\n\x04\x08\x01\x12\x00Z\x0b\n\x01b\x12\x06\n\x04\x08\x06\x12\x00Z\x0c\n\x02sb\x12\x06\n\x04\x08\x01\x12\x00b\x19\n\x07y_of_if\x12\x0e\n\x0c\x08\x02\x12\x08\n\x02\x08\x01\n\x02\x08\x01B\x04\n\x00\x10\x12')
inputs = {
    'condition': np.array([True], dtype=np.dtype('bool')).reshape(()),
    'x': np.array([0], dtype=np.dtype('uint8')).reshape((1, 1)),
    'sx': np.array([0.0], dtype=np.dtype('float32')).reshape(()),
    'sw': np.array([0.0], dtype=np.dtype('float32')).reshape(()),
    'zx': np.array([0], dtype=np.dtype('uint8')).reshape(()),
    'zy': np.array([0], dtype=np.dtype('uint8')).reshape(()),
    'w': np.array([0], dtype=np.dtype('uint8')).reshape((1, 1)),
    'zw': np.array([0], dtype=np.dtype('uint8')).reshape(()),
    'so': np.array([1.0], dtype=np.dtype('float32')).reshape(()),
    'b': np.array([1], dtype=np.dtype('int32')).reshape(()),
    'sb': np.array([1.0], dtype=np.dtype('float32')).reshape(()),
}
expected = [
    np.array([1], dtype=np.dtype('uint8')).reshape((1, 1)),
]
print("expected:", expected)

try:
    import onnxruntime
    
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = session.run(None, inputs)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
BOUNDS = [np.array([0.0], dtype=np.dtype('float64')).reshape((1, 1))]


def check(where, wanted, got, bound=0):
    assert not isinstance(got, (list, dict)) and got is not None, f"{where}: a tensor expected, {got} got"
    got = np.asarray(got)
    assert wanted.dtype == got.dtype, f"{where}: {wanted.dtype} expected, {got.dtype} got"
    assert wanted.shape == got.shape, f"{where}: shape {wanted.shape} expected, {got.shape} got"
    a, b, bound = (np.ravel(array) for array in (wanted, got, np.broadcast_to(bound, wanted.shape)))
    differs = ~((a == b) | ((a != a) & (b != b)))
    count = int(differs.sum())
    assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got, BOUNDS[index])
print("as expected")
