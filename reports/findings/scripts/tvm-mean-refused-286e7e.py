"""Mean: refused (...symbolic but structurally different. ONNX frontend requires dimensions names to match for symbolic shapes.), bfloat16[1] 0.150391 expected

The text: «Element-wise mean of each of the input tensors»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and apache-tvm 0.27.0.post1
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
   ir_version: 7,
   opset_import: ["" : 13],
   producer_name: "onnx-conformance"
>
Mean_13_fractions_bfloat16 (bfloat16[data_0_0_0] data_0_0, bfloat16[data_0_1_0] data_0_1) => (bfloat16[mean_0] mean) {
   [Mean] mean = Mean (data_0_0, data_0_1)
}
""")
inputs = {
    'data_0_0': np.frombuffer(bytes.fromhex('cd3d'), dtype=ml_dtypes.bfloat16).reshape((1,)),
    'data_0_1': np.frombuffer(bytes.fromhex('4d3e'), dtype=ml_dtypes.bfloat16).reshape((1,)),
}
expected = [
    np.frombuffer(bytes.fromhex('1a3e'), dtype=ml_dtypes.bfloat16).reshape((1,)),
]
print("expected:", expected)

try:
    import numpy
    import tvm
    from tvm import relax
    from tvm.relax.frontend.onnx import from_onnx
    
    executable = tvm.compile(from_onnx(model, keep_params_in_input=False), target="llvm")
    machine = relax.VirtualMachine(executable, tvm.cpu())
    returned = machine["main"](*(tvm.runtime.tensor(array) for array in inputs.values()))
    values = [returned] if len(model.graph.output) == 1 else list(returned)
    outputs = [value.numpy() if hasattr(value, "numpy") else numpy.array(list(value)) for value in values]
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([0.004545440833005119], dtype=np.dtype('float64')).reshape((1,))]


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
