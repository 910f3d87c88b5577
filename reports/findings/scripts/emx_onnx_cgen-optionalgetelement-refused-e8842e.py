"""OptionalGetElement: refused (...tensor?[dtype=float16, shape=()]], outputs=[output: tensor[dtype=float16, shape=(12,), dim_params=(None,)]])), float16[12] nan inf -inf -0 0 5.96046e-08 6.10352e-05 0.000976562 6550... expected

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
OptionalGetElement_18_types_extremes (optional(float16[]) input) => (float16[12] output) {
   [OptionalGetElement] output = OptionalGetElement (input)
}
""")
inputs = {
    'input': np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 5.960464477539063e-08, 6.103515625e-05, 0.0009765625, 65504.0, -65504.0, 1.0, np.nan], dtype=np.dtype('float16')).reshape((12,)),
}
expected = [
    np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 5.960464477539063e-08, 6.103515625e-05, 0.0009765625, 65504.0, -65504.0, 1.0, np.nan], dtype=np.dtype('float16')).reshape((12,)),
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
    if wanted.dtype.kind == "f":  # +0 and -0 differ.
        signs = (np.signbit(np.asarray(array)[wanted == 0]) for array in (got, wanted))
        np.testing.assert_array_equal(*signs, f"outputs[{index}], signs of zeros")
print("as expected")
