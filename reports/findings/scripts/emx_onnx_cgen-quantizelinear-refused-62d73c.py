"""QuantizeLinear: refused (...None, None)]], outputs=[y: tensor[dtype=uint8, shape=(2, 3, 1), dim_params=(None, None, None)]])), uint8[2,3,1] 0 0 0 0 0 0 expected

The text: «The scale's shape is identical to the input's shape, except for one dimension»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and emx-onnx-cgen 1.4.0
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
   ir_version: 10,
   opset_import: ["" : 21],
   producer_name: "onnx-conformance"
>
QuantizeLinear_21_blocks_2_axis_1 (float[2,3,1] x, float[2,2,1] y_scale) => (uint8[2,3,1] y) {
   [QuantizeLinear] y = QuantizeLinear <block_size: int = 2> (x, y_scale)
}
""")
inputs = {
    'x': np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((2, 3, 1)),
    'y_scale': np.array([1.0, 1.0, 1.0, 1.0], dtype=np.dtype('float32')).reshape((2, 2, 1)),
}
expected = [
    np.array([0, 0, 0, 0, 0, 0], dtype=np.dtype('uint8')).reshape((2, 3, 1)),
]
print("expected:", expected)

try:
    from emx_onnx_cgen import onnx_backend
    
    outputs = onnx_backend.run_model(model, list(inputs.values()))
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
