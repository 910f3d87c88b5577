"""Cast: 1.001 expected, 1.0 came

The text: «Conversion from a numerical type to any numerical type is always allowed. User must be aware of precision loss and value change caused by range difference between two types.»
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
Cast_13_rounds_once_double_float16 (double input) => (float16 output) {
   [Cast] output = Cast <to: int = 10> (input)
}
""")
inputs = {
    'input': np.array([1.0004882812509095], dtype=np.dtype('float64')).reshape(()),
}
expected = [
    np.array([1.0009765625], dtype=np.dtype('float16')).reshape(()),
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
print("as expected")
