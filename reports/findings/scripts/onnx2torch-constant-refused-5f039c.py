"""Constant: refused (...float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool.), bfloat16[] 0 expected

The text: «Output tensor containing the same value of the provided tensor.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnx2torch 1.5.15
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
import ml_dtypes

# onnx's text format cannot hold this model; it is the serialized ModelProto.
model = onnx.load_from_string(b'\x08\x07\x12\x10onnx-conformance:c\n2\x12\x06output\x1a\x08Constant"\x08Constant*\x12\n\x05value*\x06\x10\x10J\x02\x00\x00\xa0\x01\x04:\x00\x12\x1bConstant_13_dtypes_extremesb\x10\n\x06output\x12\x06\n\x04\x08\x10\x12\x00B\x04\n\x00\x10\r')
inputs = {
}
expected = [
    np.frombuffer(bytes.fromhex('0000'), dtype=ml_dtypes.bfloat16).reshape(()),
]
print("expected:", expected)

try:
    import ml_dtypes
    import numpy
    import onnx2torch
    import torch
    
    
    def to_torch(array):
        if hasattr(numpy, array.dtype.name):
            return torch.from_numpy(array)
        bits = numpy.ascontiguousarray(array).view(f"uint{8 * array.itemsize}")
        return torch.from_numpy(bits).view(getattr(torch, array.dtype.name))
    
    
    def from_torch(tensor):
        name = str(tensor.dtype).removeprefix("torch.")
        if hasattr(numpy, name):
            return tensor.numpy()
        bits = tensor.contiguous().view(getattr(torch, f"uint{8 * tensor.itemsize}"))
        return bits.numpy().view(getattr(ml_dtypes, name))
    
    
    module = onnx2torch.convert(model).eval()
    with torch.no_grad():
        returned = module(*(to_torch(array) for array in inputs.values()))
    outputs = [from_torch(tensor) for tensor in (returned if isinstance(returned, (list, tuple)) else [returned])]
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)


def check(where, wanted, got, bound=0):
    assert not isinstance(got, (list, dict)) and got is not None, f"{where}: a tensor expected, {got} got"
    got = np.asarray(got)
    assert wanted.dtype == got.dtype, f"{where}: {wanted.dtype} expected, {got.dtype} got"
    assert wanted.shape == got.shape, f"{where}: shape {wanted.shape} expected, {got.shape} got"
    a, b, bound = (np.ravel(array) for array in (wanted, got, np.broadcast_to(bound, wanted.shape)))
    differs = ~((a == b) | ((a != a) & (b != b)))
    if "float" in a.dtype.name:
        differs |= (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))  # +0 and -0 differ.
    count = int(differs.sum())
    assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got)
print("as expected")
