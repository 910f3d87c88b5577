"""MaxPool: outputs[1]: 18 expected, 0 came

The text: «The dimensions of indices are the same as output tensor.»
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
MaxPool_8_indices_space (float[2,1,2,3,3] X) => (float[2,1,1,3,1] Y, int64[2,1,1,3,1] Indices) {
   [MaxPool] Y, Indices = MaxPool <kernel_shape: ints = [2, 1, 3]> (X)
}
""")
inputs = {
    'X': np.array([-200.0, -163.0, -126.0, -179.0, -142.0, -105.0, -158.0, -121.0, -84.0, -137.0, -100.0, -190.0, -116.0, -79.0, -169.0, -95.0, -185.0, -148.0, -74.0, -164.0, -127.0, -180.0, -143.0, -106.0, -159.0, -122.0, -85.0, -138.0, -101.0, -191.0, -117.0, -80.0, -170.0, -96.0, -186.0, -149.0], dtype=np.dtype('float32')).reshape((2, 1, 2, 3, 3)),
}
expected = [
    np.array([-100.0, -79.0, -84.0, -74.0, -80.0, -85.0], dtype=np.dtype('float32')).reshape((2, 1, 1, 3, 1)),
    np.array([10, 13, 8, 18, 31, 26], dtype=np.dtype('int64')).reshape((2, 1, 1, 3, 1)),
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
