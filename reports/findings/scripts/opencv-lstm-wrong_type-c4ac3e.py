"""LSTM with P has a dimension of size 1: tensor(float16) expected, tensor(float) came

The text: «Constrain input and output types to float tensors.»
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
   opset_import: ["" : 7],
   producer_name: "onnx-conformance"
>
LSTM_7_signature_types_t (float16[2,4,5] X, float16[1,12,5] W, float16[1,12,3] R, float16[1,24] B, float16[1,4,3] initial_h, float16[1,4,3] initial_c) => (float16[1,4,3] Y_h) {
   [LSTM] "", Y_h = LSTM <hidden_size: int = 3> (X, W, R, B, "", initial_h, initial_c)
}
""")
inputs = {
    'X': np.array([1.9833984375, -0.51123046875, -1.8515625, 0.98828125, 1.5966796875, -1.3994140625, -1.236328125, 1.71875, 0.79345703125, -1.9228515625, -0.298095703125, 2.0, -0.21728515625, -1.943359375, 0.71826171875, 1.7587890625, -1.1708984375, -1.45703125, 1.546875, 1.05859375, -1.8193359375, -0.58935546875, 1.9716796875, 0.08135986328125, -1.9921875, 0.431884765625, 1.880859375, -0.91650390625, -1.64453125, 1.3408203125, 1.298828125, -1.6748046875, -0.86767578125, 1.8984375, 0.378173828125, -1.99609375, 0.13623046875, 1.9609375, -0.6416015625, -1.7958984375], dtype=np.dtype('float16')).reshape((2, 4, 5)),
    'W': np.array([0.81494140625, 0.469970703125, -0.93603515625, -0.2288818359375, 0.99462890625, -0.95361328125, 0.421875, 0.8447265625, -0.6396484375, -0.68017578125, 0.333251953125, -0.97802734375, -0.081298828125, 0.9990234375, -0.176025390625, 0.55224609375, 0.755859375, -0.7470703125, -0.56298828125, 0.89208984375, -0.998046875, 0.068115234375, 0.98046875, -0.32080078125, -0.89794921875, 0.6494140625, -0.83740234375, -0.433837890625, 0.94921875, 0.1890869140625, 0.2159423828125, 0.9404296875, -0.458251953125, -0.822265625, 0.67041015625, -0.90966796875, -0.294677734375, 0.98583984375, 0.040679931640625, -0.99609375, 0.87939453125, -0.58544921875, -0.728515625, 0.7734375, 0.529296875, -0.1490478515625, 1.0, -0.108642578125, -0.9716796875, 0.359130859375, -0.69970703125, -0.6181640625, 0.859375, 0.396728515625, -0.96142578125, 0.99169921875, -0.255615234375, -0.92578125, 0.494140625, 0.79833984375], dtype=np.dtype('float16')).reshape((1, 12, 5)),
    'R': np.array([-1.236328125, 1.353515625, 1.388671875, 1.353515625, 1.5966796875, -0.95556640625, 1.388671875, -0.95556640625, -1.8515625, 1.7587890625, -0.6943359375, -1.689453125, -0.6943359375, -1.943359375, 0.2100830078125, -1.689453125, 0.2100830078125, 2.0, -1.9921875, -0.07867431640625, 1.7138671875, -0.07867431640625, 1.9716796875, 0.56982421875, 1.7138671875, 0.56982421875, -1.8193359375, 1.8984375, 0.8388671875, -1.4560546875, 0.8388671875, -1.6748046875, -1.255859375, -1.4560546875, -1.255859375, 1.3408203125], dtype=np.dtype('float16')).reshape((1, 12, 3)),
    'B': np.array([0.74365234375, -0.191650390625, -0.6943359375, 0.37060546875, 0.5986328125, -0.52490234375, -0.463623046875, 0.64453125, 0.297607421875, -0.72119140625, -0.11175537109375, 0.75, -0.08148193359375, -0.72900390625, 0.269287109375, 0.65966796875, -0.439208984375, -0.54638671875, 0.580078125, 0.396728515625, -0.68212890625, -0.220947265625, 0.7392578125, 0.030517578125], dtype=np.dtype('float16')).reshape((1, 24)),
    'initial_h': np.array([-1.4423828125, -0.2235107421875, 1.5, -0.92724609375, 1.2890625, 0.59521484375, 0.7412109375, 1.197265625, -1.0498046875, 1.4873046875, -0.38330078125, -1.388671875], dtype=np.dtype('float16')).reshape((1, 4, 3)),
    'initial_c': np.array([-0.96142578125, -0.1490478515625, 1.0, -0.6181640625, 0.859375, 0.396728515625, 0.494140625, 0.79833984375, -0.69970703125, 0.99169921875, -0.255615234375, -0.92578125], dtype=np.dtype('float16')).reshape((1, 4, 3)),
}
expected = [
    np.array([-0.0020275115966796875, 0.73291015625, -0.0330810546875, 0.53955078125, 0.0026302337646484375, -0.0011196136474609375, -0.478271484375, -0.0020580291748046875, 0.339599609375, 0.0023593902587890625, 0.76806640625, -0.0017833709716796875], dtype=np.dtype('float16')).reshape((1, 4, 3)),
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
BOUNDS = [np.array([0.0005930928179547789, 0.0070279672888201635, 0.0013384222157680785, 0.014798586775984588, 0.0005547777195810379, 0.0001285885642425419, 0.008160786200784333, 0.00027458200144484554, 0.017498469387436384, 0.0002580111355210927, 0.012105021355275681, 0.0003953100798634127], dtype=np.dtype('float64')).reshape((1, 4, 3))]


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
