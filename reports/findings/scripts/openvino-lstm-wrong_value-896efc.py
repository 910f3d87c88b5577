"""LSTM with clip=0.5: 0.28764912 expected, 0.44319203 came

The text: «Clipping bounds the elements of a tensor in the range of [-threshold, +threshold] and is applied to the input of activations.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and openvino 2026.4.1
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
LSTM_7_clip_states (float[1,1,1] X, float[1,12,1] W, float[1,12,3] R, float[1,1,3] initial_c) => (float[1,1,1,3] Y) {
   [LSTM] Y = LSTM <clip: float = 0.5, hidden_size: int = 3> (X, W, R, "", "", "", initial_c)
}
""")
inputs = {
    'X': np.array([0.9916648268699646], dtype=np.dtype('float32')).reshape((1, 1, 1)),
    'W': np.array([0.8147050738334656, -0.9534853100776672, 0.3333139419555664, 0.5521673560142517, -0.9981366395950317, 0.6496128439903259, 0.21598726511001587, -0.9096666574478149, 0.8792730569839478, -0.14899902045726776, -0.6998746991157532, 0.9916648268699646], dtype=np.dtype('float32')).reshape((1, 12, 1)),
    'R': np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((1, 12, 3)),
    'initial_c': np.array([-0.9613974690437317, -0.14899902045726776, 0.9997928738594055], dtype=np.dtype('float32')).reshape((1, 1, 3)),
}
expected = [
    np.array([-0.28764912486076355, -0.08559323102235794, 0.28764912486076355], dtype=np.dtype('float32')).reshape((1, 1, 1, 3)),
]
print("expected:", expected)

try:
    import openvino
    
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU")
    request = compiled.create_infer_request()
    names = {name for port in compiled.inputs for name in port.names}
    request.infer({name: value for name, value in inputs.items() if name in names})
    outputs = [request.get_tensor(value.name).data.copy() for value in model.graph.output]
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([6.100194504495203e-07, 2.5043424153031164e-07, 6.834659045093106e-07], dtype=np.dtype('float64')).reshape((1, 1, 1, 3))]


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
