"""Split: refused (...shape=(5,), dim_params=(None,)], outputs_1: tensor[dtype=double, shape=(7,), dim_params=(None,)]])), double[5] nan inf -inf -0 0; double[7] 4.94066e-324 2.22507e-308 2.220... expected

The text: «Split a tensor into a list of tensors»
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
   ir_version: 3,
   opset_import: ["" : 2],
   producer_name: "onnx-conformance"
>
Split_2_extremes (double[12] input) => (double[5] outputs_0, double[7] outputs_1) {
   [Split] outputs_0, outputs_1 = Split <axis: int = 0, split: ints = [5, 7]> (input)
}
""")
inputs = {
    'input': np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, 2.2250738585072014e-308, 2.220446049250313e-16, 1.7976931348623157e+308, -1.7976931348623157e+308, 1.0, np.nan], dtype=np.dtype('float64')).reshape((12,)),
}
expected = [
    np.array([np.nan, np.inf, -np.inf, -0.0, 0.0], dtype=np.dtype('float64')).reshape((5,)),
    np.array([5e-324, 2.2250738585072014e-308, 2.220446049250313e-16, 1.7976931348623157e+308, -1.7976931348623157e+308, 1.0, np.nan], dtype=np.dtype('float64')).reshape((7,)),
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
