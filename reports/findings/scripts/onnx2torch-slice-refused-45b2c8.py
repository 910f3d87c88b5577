"""Slice with steps has the highest value of its type: refused (step must be greater than zero), float[1] 0 expected

The text: «The clamping for the adjusted `ends[i]` depends on the sign of `steps[i]` and must accommodate copying 0 through `dims[axes[i]]` elements, so for positive stepping `ends[axes[i]]` is clamped to `[0, dims[axes[i]]]`, while for negative stepping it is clamped to `[-1, dims[axes[i]]-1]`.»
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

model = onnx.parser.parse_model("""
<
   ir_version: 7,
   opset_import: ["" : 13],
   producer_name: "onnx-conformance"
>
Slice_13_huge_steps_int32 (float[1] data, int32[1] starts, int32[1] ends, int32[1] steps) => (float[1] output) {
   [Slice] output = Slice (data, starts, ends, "", steps)
}
""")
inputs = {
    'data': np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
    'starts': np.array([0], dtype=np.dtype('int32')).reshape((1,)),
    'ends': np.array([-2], dtype=np.dtype('int32')).reshape((1,)),
    'steps': np.array([-2147483648], dtype=np.dtype('int32')).reshape((1,)),
}
expected = [
    np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
]
print("expected:", expected)

try:
    import onnx2torch
    import torch
    
    module = onnx2torch.convert(model).eval()
    with torch.no_grad():
        returned = module(*(torch.from_numpy(array) for array in inputs.values()))
    outputs = [tensor.numpy() for tensor in (returned if isinstance(returned, (list, tuple)) else [returned])]
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
