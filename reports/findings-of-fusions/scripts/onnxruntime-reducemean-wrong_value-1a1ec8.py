"""ReduceMean: -0.5 expected, -0.99998 came

The text: «Performs element-wise binary multiplication»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxruntime 1.31.1
"""

import os
import subprocess
import sys

if sys.argv[1:] != ["once"]:  # In a process of its own: what the runtime does may end it, or never end.
    try:
        status = subprocess.run([sys.executable, __file__, "once"], timeout=30).returncode
    except subprocess.TimeoutExpired:
        status = "timeout"
    words = {0: "", 2: None, 101: "wrong", 102: "refused", 103: "accepted", 104: "invalid", "timeout": "timeout"}
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
   opset_import: ["" : 18]
>
graph (float[2] x, float two, float eps, float[1] scale, float[1] bias) => (float[2] y) 
   <int64[1] r =  {-1}>
{
   [ReduceMean_0] m = ReduceMean (x, r)
   [Sub_1] d = Sub (x, m)
   [Pow_2] q = Pow (d, two)
   [ReduceMean_3] v = ReduceMean (q, r)
   [Add_4] e = Add (v, eps)
   [Sqrt_5] s = Sqrt (e)
   [Div_6] n = Div (d, s)
   [Mul_7] g = Mul (n, scale)
   [Add_8] y = Add (g, bias)
}
""")
inputs = {
    'x': np.array([0.0, 1.0], dtype=np.dtype('float32')).reshape((2,)),
    'two': np.array([0.0], dtype=np.dtype('float32')).reshape(()),
    'eps': np.array([0.0], dtype=np.dtype('float32')).reshape(()),
    'scale': np.array([1.0], dtype=np.dtype('float32')).reshape((1,)),
    'bias': np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
}
expected = [
    np.array([-0.5, 0.5], dtype=np.dtype('float32')).reshape((2,)),
]
print("expected:", expected)

try:
    import onnxruntime
    
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = session.run(None, inputs)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([3.2621293185635857e-07, 3.4410069104300406e-07], dtype=np.dtype('float64')).reshape((2,))]


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
    check(f"outputs[{index}]", wanted, got, BOUNDS[index])
print("as expected")
