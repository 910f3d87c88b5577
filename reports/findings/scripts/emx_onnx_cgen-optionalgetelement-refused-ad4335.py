"""OptionalGetElement with type is one of float8e4m3fn, float8e4m3fnuz, int8, uint16, uint64: refused (...tensor?[dtype=int8, shape=()]], outputs=[output: tensor[dtype=int8, shape=(12,), dim_params=(None,)]])), int8[12] -128 127 0 1 126 -127 -128 127 0 1 126 -127 expected

The text: «Output element in the optional input.»
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
   ir_version: 8,
   opset_import: ["" : 18],
   producer_name: "onnx-conformance"
>
OptionalGetElement_18_types_extremes (optional(int8[]) input) => (int8[12] output) {
   [OptionalGetElement] output = OptionalGetElement (input)
}
""")
inputs = {
    'input': np.array([-128, 127, 0, 1, 126, -127, -128, 127, 0, 1, 126, -127], dtype=np.dtype('int8')).reshape((12,)),
}
expected = [
    np.array([-128, 127, 0, 1, 126, -127, -128, 127, 0, 1, 126, -127], dtype=np.dtype('int8')).reshape((12,)),
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
