"""LSTM with direction=reverse: outputs[1]: 0.1909546 expected, -0.16638274 came

The text: «Number of neurons in the hidden layer»
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
LSTM_1_one_neuron_reverse (float[3,2,1] X, float[1,4,1] W, float[1,4,1] R, float[1,8] B, float[1,2,1] initial_h, float[1,2,1] initial_c) => (float[3,1,2,1] Y, float[1,2,1] Y_h) {
   [LSTM] Y, Y_h = LSTM <direction: string = "reverse"> (X, W, R, B, "", initial_h, initial_c)
}
""")
inputs = {
    'X': np.array([1.4874972105026245, -1.0498120784759521, -0.22349853813648224, 1.3189096450805664, -1.3645000457763672, 0.3239808976650238], dtype=np.dtype('float32')).reshape((3, 2, 1)),
    'W': np.array([1.3189096450805664, -0.22349853813648224, -1.0498120784759521, 1.4874972105026245], dtype=np.dtype('float32')).reshape((1, 4, 1)),
    'R': np.array([1.4874972105026245, -0.3833116590976715, -1.3887220621109009, 0.7411700487136841], dtype=np.dtype('float32')).reshape((1, 4, 1)),
    'B': np.array([0.7437486052513123, -0.19165582954883575, -0.6943610310554504, 0.37058502435684204, 0.5988653302192688, -0.5249060392379761, -0.46360284090042114, 0.6443713903427124], dtype=np.dtype('float32')).reshape((1, 8)),
    'initial_h': np.array([-0.3833116590976715, 1.4874972105026245], dtype=np.dtype('float32')).reshape((1, 2, 1)),
    'initial_c': np.array([-0.2555411159992218, 0.9916648268699646], dtype=np.dtype('float32')).reshape((1, 2, 1)),
}
expected = [
    np.array([0.19095459580421448, 0.07641252130270004, 0.07504253834486008, 0.19653189182281494, -0.16638275980949402, 0.1555025279521942], dtype=np.dtype('float32')).reshape((3, 1, 2, 1)),
    np.array([0.19095459580421448, 0.07641252130270004], dtype=np.dtype('float32')).reshape((1, 2, 1)),
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
BOUNDS = [np.array([3.725427238730452e-07, 3.211404841139176e-07, 3.2579747479330074e-07, 4.260172489970951e-07, 4.593803964236405e-07, 4.7204982405151897e-07], dtype=np.dtype('float64')).reshape((3, 1, 2, 1)), np.array([3.725427238730452e-07, 3.211404841139176e-07], dtype=np.dtype('float64')).reshape((1, 2, 1))]


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
