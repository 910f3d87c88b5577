"""CausalConvWithState with form is @symbolic: refused (...shape=(-1, -1, -1), dim_params=('present_state_0', 'present_state_1', 'present_state_2')]])), float[2,3,5] 8.85059 -4.5614 -15.9381 13.0784 12.5679 -5.02957 -0.0337... expected

The text: «If not provided, padding is zero.»
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
   ir_version: 13,
   opset_import: ["" : 27],
   producer_name: "onnx-conformance"
>
CausalConvWithState_27_plain (float[input_0,input_1,input_2] input, float[weight_0,weight_1,weight_2] weight) => (float[output_0,output_1,output_2] output, float[present_state_0,present_state_1,present_state_2] present_state) {
   [CausalConvWithState] output, present_state = CausalConvWithState (input, weight)
}
""")
inputs = {
    'input': np.array([2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043, -1.8544113636016846, 2.5774855613708496, 1.1902216672897339, -2.88419246673584, -0.4469970762729645, 2.9993786811828613, -0.3259097933769226, -2.9153952598571777, 1.0771750211715698, 2.637819290161133, -1.7569119930267334, -2.185082197189331, 2.319983720779419, 1.5872480869293213, -2.7290000915527344, -0.8840147852897644, 2.956800937652588, 0.1220797747373581, -2.9882595539093018, 0.6479617953300476, 2.821286916732788, -1.374976396560669, -2.466970682144165, 2.0106875896453857], dtype=np.dtype('float32')).reshape((2, 3, 5)),
    'weight': np.array([1.4823400974273682, -2.7774441242218018, -0.766623318195343, 2.974994421005249, 2.5774855613708496, -1.8544113636016846, -2.0996241569519043, 2.395461320877075, 2.9993786811828613, -0.4469970762729645, -2.88419246673584, 1.1902216672897339], dtype=np.dtype('float32')).reshape((3, 1, 4)),
}
expected = [
    np.array([8.850591659545898, -4.561400413513184, -15.938050270080566, 13.078413963317871, 12.567887306213379, -5.029568672180176, -0.03374909237027168, 13.961400985717773, -4.533530235290527, -18.967426300048828, -0.5320255756378174, 4.8591508865356445, -8.838884353637695, -5.21140718460083, 18.832592010498047, 7.847497463226318, -7.249017238616943, -12.48011302947998, 17.366943359375, 6.408102989196777, -6.537214279174805, 3.6122512817382812, 13.999690055847168, -11.310364723205566, -15.17624282836914, 0.7712181806564331, 1.4891102313995361, -10.063298225402832, 1.7118303775787354, 18.585100173950195], dtype=np.dtype('float32')).reshape((2, 3, 5)),
    np.array([-2.7774441242218018, 1.4823400974273682, 2.395461320877075, 2.5774855613708496, 1.1902216672897339, -2.88419246673584, -0.3259097933769226, -2.9153952598571777, 1.0771750211715698, -2.185082197189331, 2.319983720779419, 1.5872480869293213, 2.956800937652588, 0.1220797747373581, -2.9882595539093018, -1.374976396560669, -2.466970682144165, 2.0106875896453857], dtype=np.dtype('float32')).reshape((2, 3, 3)),
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
BOUNDS = [np.array([4.220291044717959e-06, 2.1750451036869786e-06, 8.020218469823723e-06, 6.236273718349336e-06, 7.618463713026596e-06, 2.3982851297175522e-06, 3.1692416642812476e-06, 6.657314662585946e-06, 6.660693947819076e-06, 9.044373841214458e-06, 2.536895777679654e-07, 2.3170237993193522e-06, 4.357620948750071e-06, 3.1573233102277624e-06, 8.980079314041892e-06, 3.7419784888503057e-06, 3.4566007397054466e-06, 6.914352362265009e-06, 8.281204121618646e-06, 6.190512308807366e-06, 3.117186624519621e-06, 3.2370978017666917e-06, 6.6755723281013065e-06, 6.7749076985785e-06, 7.2365963106435365e-06, 3.677454797638791e-07, 2.046766320394606e-06, 4.798554515356385e-06, 3.8184422687604e-06, 8.862066485023637e-06], dtype=np.dtype('float64')).reshape((2, 3, 5)), np.array([0.0], dtype=np.dtype('float64')).reshape((1,))]


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
