"""MaxPool with storage_order=1: outputs[1]: shape [1, 1, 4, 5] expected, shape [1, 1, 5, 4] came

The text: «The indices are computed as flatten 1-D tensor, and the indices do not consider padding. So the values in indices are in [0, N x C x D1 x ... x Dn).»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and tinygrad 0.14.0
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
   ir_version: 3,
   opset_import: ["" : 8],
   producer_name: "onnx-conformance"
>
MaxPool_8_storage_order_columns_pads (float[1,1,4,5] X) => (float[1,1,4,5] Y, int64[1,1,4,5] Indices) {
   [MaxPool] Y, Indices = MaxPool <kernel_shape: ints = [2, 3], pads: ints = [1, 0, 0, 2], storage_order: int = 1> (X)
}
""")
inputs = {
    'X': np.array([-200.0, -163.0, -126.0, -89.0, -179.0, -142.0, -105.0, -195.0, -158.0, -121.0, -84.0, -174.0, -137.0, -100.0, -190.0, -153.0, -116.0, -79.0, -169.0, -132.0], dtype=np.dtype('float32')).reshape((1, 1, 4, 5)),
}
expected = [
    np.array([-126.0, -89.0, -89.0, -89.0, -179.0, -105.0, -89.0, -89.0, -89.0, -121.0, -84.0, -100.0, -100.0, -100.0, -121.0, -79.0, -79.0, -79.0, -100.0, -132.0], dtype=np.dtype('float32')).reshape((1, 1, 4, 5)),
    np.array([8, 12, 12, 12, 16, 5, 12, 12, 12, 17, 2, 14, 14, 14, 17, 11, 11, 11, 14, 19], dtype=np.dtype('int64')).reshape((1, 1, 4, 5)),
]
print("expected:", expected)

try:
    import os
    from pathlib import Path
    
    os.environ.setdefault("DEV", "CPU")  # compiles with clang, or what CC names
    
    from tinygrad.nn.onnx import OnnxRunner
    
    Path("model.onnx").write_bytes(model.SerializeToString())
    answers = OnnxRunner("model.onnx")(inputs)
    outputs = [answer.numpy() if hasattr(answer, "numpy") else answer for answer in answers.values()]
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
