"""GRU: refused (...error: (-215:Assertion failed) src.type() == CV_32F in function 'sigmoid'), double[1,1,1,3] -0.053752 -0.437848 0.259785; double[1,1,3] -0.053752... expected

The text: «This tensor has shape `[num_directions, 6*hidden_size]`.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and opencv-python-headless 5.0.0.93
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
GRU_1_each_type_before_7 (double[1,1,1] X, double[1,9,1] W, double[1,9,3] R) => (double[1,1,1,3] Y, double[1,1,3] Y_h) {
   [GRU] Y, Y_h = GRU (X, W, R)
}
""")
inputs = {
    'X': np.array([0.9916648104524685], dtype=np.dtype('float64')).reshape((1, 1, 1)),
    'W': np.array([0.5521673849078803, -0.9981366159327033, 0.6496128616862011, 0.21598726618821715, -0.9096666718335252, 0.8792730616507244, -0.1489990258141988, -0.6998746875935423, 0.9916648104524685], dtype=np.dtype('float64')).reshape((1, 9, 1)),
    'R': np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float64')).reshape((1, 9, 3)),
}
expected = [
    np.array([-0.053751957199848543, -0.4378479326668067, 0.2597845127073949], dtype=np.dtype('float64')).reshape((1, 1, 1, 3)),
    np.array([-0.053751957199848543, -0.4378479326668067, 0.2597845127073949], dtype=np.dtype('float64')).reshape((1, 1, 3)),
]
print("expected:", expected)

try:
    import cv2
    import numpy
    
    net = cv2.dnn.readNetFromONNX(numpy.frombuffer(model.SerializeToString(), numpy.uint8))
    for name, value in inputs.items():
        net.setInput(value, name)
    outputs = list(net.forward([value.name for value in model.graph.output]))
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([4.063661482007513e-16, 1.4254318964189535e-15, 1.1693631858900544e-15], dtype=np.dtype('float64')).reshape((1, 1, 1, 3)), np.array([4.063661482007513e-16, 1.4254318964189535e-15, 1.1693631858900544e-15], dtype=np.dtype('float64')).reshape((1, 1, 3))]


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
