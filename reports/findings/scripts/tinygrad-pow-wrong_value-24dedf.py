"""Pow: 52.10624483511497 expected, 52.106244835115014 came

The text: «where the function `f(x) = x^exponent`, is applied to the data tensor elementwise.»
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
   opset_import: ["" : 1],
   producer_name: "onnx-conformance"
>
Pow_1_fractions_double (double[8] X, double[8] Y) => (double[8] Z) {
   [Pow] Z = Pow (X, Y)
}
""")
inputs = {
    'X': np.array([0.5, 2.0, 3.0, 10.0, 0.1, 1.5, 7.0, 0.0], dtype=np.dtype('float64')).reshape((8,)),
    'Y': np.array([0.5, -1.5, 0.3333333333333333, -0.25, 2.5, 9.75, 0.0, 0.5], dtype=np.dtype('float64')).reshape((8,)),
}
expected = [
    np.array([0.7071067811865476, 0.3535533905932738, 1.4422495703074083, 0.5623413251903491, 0.00316227766016838, 52.10624483511497, 1.0, 0.0], dtype=np.dtype('float64')).reshape((8,)),
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
RTOL, ATOL, ULP = (0, 0, 2)
EPS = {'float64': 2.220446049250313e-16}  # One unit in the last place, beside 1.


def check(where, wanted, got, bound=0):
    assert not isinstance(got, (list, dict)) and got is not None, f"{where}: a tensor expected, {got} got"
    got = np.asarray(got)
    assert wanted.dtype == got.dtype, f"{where}: {wanted.dtype} expected, {got.dtype} got"
    assert wanted.shape == got.shape, f"{where}: shape {wanted.shape} expected, {got.shape} got"
    a, b, bound = (np.ravel(array) for array in (wanted, got, np.broadcast_to(bound, wanted.shape)))
    differs = ~((a == b) | ((a != a) & (b != b)))
    if "float" in a.dtype.name:
        with np.errstate(all="ignore"):
            wide, far = np.abs(a.astype(float)), np.abs(a.astype(float) - b.astype(float))
            near = far <= np.maximum(ATOL + (RTOL + ULP * EPS.get(a.dtype.name, 0)) * wide, bound)
        differs &= ~(near & np.isfinite(far))
    count = int(differs.sum())
    assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got)
print("as expected")
