"""RMSNormalization with axis counted from the front = 0: refused (...shape=(4,), dim_params=(None,)]], outputs=[Y: tensor[dtype=float, shape=(3, 4), dim_params=(None, None)]])), float[3,4] 1.34729 -0.187583 0.52344 -0.664591 1.08484 -0.513752 0.349... expected

The text: «If rank(X) is r, axis' allowed range is [-r, r). Negative value means counting dimensions from the back.»
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
   ir_version: 11,
   opset_import: ["" : 23],
   producer_name: "onnx-conformance"
>
RMSNormalization_23_rank2_axis_minus2 (float[3,4] X, float[4] scale) => (float[3,4] Y) {
   [RMSNormalization] Y = RMSNormalization <axis: int = -2> (X, scale)
}
""")
inputs = {
    'X': np.array([2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043, -1.8544113636016846, 2.5774855613708496, 1.1902216672897339, -2.88419246673584, -0.4469970762729645, 2.9993786811828613], dtype=np.dtype('float32')).reshape((3, 4)),
    'scale': np.array([1.0, 0.5403022766113281, -0.416146844625473, -0.9899924993515015], dtype=np.dtype('float32')).reshape((4,)),
}
expected = [
    np.array([1.347290277481079, -0.18758314847946167, 0.5234400629997253, -0.6645914316177368, 1.0848362445831299, -0.5137518048286438, 0.34948432445526123, -1.1555883884429932, 0.5390174984931946, -0.7057258486747742, 0.08424153923988342, -1.344739556312561], dtype=np.dtype('float32')).reshape((3, 4)),
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
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([1.2848760856026296e-06, 1.7889323299806078e-07, 4.991913221827472e-07, 6.338038180077708e-07, 1.0345804158318488e-06, 4.899519028486495e-07, 3.3329421549620024e-07, 1.1020549147202649e-06, 5.140471343640111e-07, 6.730326389987972e-07, 8.033899208649e-08, 1.282443659915876e-06], dtype=np.dtype('float64')).reshape((3, 4))]


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
