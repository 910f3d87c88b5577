"""ai.onnx.preview.training/Adam: 2.6669376312480515 expected, 2.6669369270010246 came

The text: «Constrain input and output types to float tensors.»
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
   ir_version: 7,
   opset_import: ["ai.onnx.preview.training" : 1],
   producer_name: "onnx-conformance"
>
Adam_1_dtypes (double R, int64 T, double[3] inputs_0, double[3] inputs_1, double[3] inputs_2, double[3] inputs_3) => (double[3] outputs_0, double[3] outputs_1, double[3] outputs_2) {
   [Adam] outputs_0, outputs_1, outputs_2 = ai.onnx.preview.training.Adam (R, T, inputs_0, inputs_1, inputs_2, inputs_3)
}
""")
inputs = {
    'R': np.array([0.1], dtype=np.dtype('float64')).reshape(()),
    'T': np.array([3], dtype=np.dtype('int64')).reshape(()),
    'inputs_0': np.array([1.2, 2.8, -0.5], dtype=np.dtype('float64')).reshape((3,)),
    'inputs_1': np.array([-0.94, -2.5, 3.0], dtype=np.dtype('float64')).reshape((3,)),
    'inputs_2': np.array([1.7, 3.6, -0.1], dtype=np.dtype('float64')).reshape((3,)),
    'inputs_3': np.array([0.1, 0.2, 2.5], dtype=np.dtype('float64')).reshape((3,)),
}
expected = [
    np.array([1.1086245753585333, 2.6669376312480515, -0.5026795174726572], dtype=np.dtype('float64')).reshape((3,)),
    np.array([1.4359999370574952, 2.9899998545646667, 0.2100000739097595], dtype=np.dtype('float64')).reshape((3,)),
    np.array([0.10078358991146089, 0.20604992210865022, 2.5064999163150787], dtype=np.dtype('float64')).reshape((3,)),
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
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([4.790697422893056e-14, 7.332997402032153e-14, 2.896104841271133e-15], dtype=np.dtype('float64')).reshape((3,)), np.array([2.163602606249066e-15, 4.649613992190046e-15, 5.195844676394064e-16], dtype=np.dtype('float64')).reshape((3,)), np.array([1.3427071442890023e-16, 2.7451364129669227e-16, 3.339328701976834e-15], dtype=np.dtype('float64')).reshape((3,))]


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
