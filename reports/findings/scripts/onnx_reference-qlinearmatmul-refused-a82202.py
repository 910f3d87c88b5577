"""QLinearMatMul with type is a float of 8 bits or fewer: refused (Invalid integer data type 'f'.), float8e5m2[1,1] 0 expected

The text: «Production must never overflow, and accumulation may overflow if and only if in 32 bits.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnx.reference 1.23.2
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

model = onnx.parser.parse_model("""
<
   ir_version: 10,
   opset_import: ["" : 21],
   producer_name: "onnx-conformance"
>
QLinearMatMul_21_sums_of_31_bits (float8e5m2[1,1] a, float a_scale, float8e5m2 a_zero_point, float8e5m2[1,1] b, float b_scale, float8e5m2 b_zero_point, float y_scale, float8e5m2 y_zero_point) => (float8e5m2[1,1] y) {
   [QLinearMatMul] y = QLinearMatMul (a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point)
}
""")
inputs = {
    'a': np.frombuffer(bytes.fromhex('00'), dtype=ml_dtypes.float8_e5m2).reshape((1, 1)),
    'a_scale': np.array([0.0], dtype=np.dtype('float32')).reshape(()),
    'a_zero_point': np.frombuffer(bytes.fromhex('00'), dtype=ml_dtypes.float8_e5m2).reshape(()),
    'b': np.frombuffer(bytes.fromhex('00'), dtype=ml_dtypes.float8_e5m2).reshape((1, 1)),
    'b_scale': np.array([0.0], dtype=np.dtype('float32')).reshape(()),
    'b_zero_point': np.frombuffer(bytes.fromhex('00'), dtype=ml_dtypes.float8_e5m2).reshape(()),
    'y_scale': np.array([1.0], dtype=np.dtype('float32')).reshape(()),
    'y_zero_point': np.frombuffer(bytes.fromhex('00'), dtype=ml_dtypes.float8_e5m2).reshape(()),
}
expected = [
    np.frombuffer(bytes.fromhex('00'), dtype=ml_dtypes.float8_e5m2).reshape((1, 1)),
]
print("expected:", expected)

try:
    import onnx.reference
    
    outputs = onnx.reference.ReferenceEvaluator(model).run(None, inputs)
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
    count = int(differs.sum())
    assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got)
print("as expected")
