"""ConvTranspose: 2.2110891 expected, -6.9089713 came

The text: «Constrain input and output types to float tensors.»
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
   opset_import: ["" : 1],
   producer_name: "onnx-conformance"
>
ConvTranspose_1_signature_types_t (float[1,1,3,5] X, float[1,1,2,3] W) => (float[1,1,1,15] Y) {
   [ConvTranspose] Y = ConvTranspose <output_shape: ints = [1, 15], strides: ints = [2, 3]> (X, W)
}
""")
inputs = {
    'X': np.array([2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043, -1.8544113636016846, 2.5774855613708496, 1.1902216672897339, -2.88419246673584, -0.4469970762729645, 2.9993786811828613, -0.3259097933769226, -2.9153952598571777, 1.0771750211715698], dtype=np.dtype('float32')).reshape((1, 1, 3, 5)),
    'W': np.array([2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043], dtype=np.dtype('float32')).reshape((1, 1, 2, 3)),
}
expected = [
    np.array([-6.246370315551758, 1.6096208095550537, 5.8315887451171875, -5.5168633460998535, 1.4216350317001343, 5.150524139404297, 7.668004989624023, -1.9759604930877686, -7.158822059631348, 3.540902853012085, -0.9124516844749451, -3.305774211883545, -8.580456733703613, 2.2110891342163086, 8.010683059692383], dtype=np.dtype('float32')).reshape((1, 1, 1, 15)),
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
BOUNDS = [np.array([2.978501392907984e-06, 2.3982851297175522e-06, 2.780718220615492e-06, 2.6306454949206104e-06, 2.118192050219893e-06, 2.4559612015369596e-06, 3.656389792108469e-06, 2.944119914714339e-06, 3.4135923994522087e-06, 1.688434038136732e-06, 1.3595247112571624e-06, 1.5763159639050234e-06, 4.091480492422338e-06, 3.2944543342736934e-06, 3.819791517191049e-06], dtype=np.dtype('float64')).reshape((1, 1, 1, 15))]


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
