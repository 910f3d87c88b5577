"""LpPool with a value of strides >= 4: 4.7488403 expected, 6.715874 came

The text: «if ceil_mode is enabled `pad_shape[i]` is the sum of pads along axis `i`.»
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

model = onnx.parser.parse_model("""
<
   ir_version: 8,
   opset_import: ["" : 18],
   producer_name: "onnx-conformance"
>
LpPool_18_sizes_ceil_since_18 (float[1,2,6,1] X) => (float[1,2,3,1] Y) {
   [LpPool] Y = LpPool <ceil_mode: int = 1, kernel_shape: ints = [3, 2], strides: ints = [2, 4]> (X)
}
""")
inputs = {
    'X': np.array([2.974994421005249, -2.88419246673584, 2.319983720779419, -1.374976396560669, 0.20428258180618286, 0.9999418258666992, -2.0400373935699463, 2.74528431892395, -2.999924659729004, 2.76216197013855, -2.0710222721099854, 1.0399483442306519], dtype=np.dtype('float32')).reshape((1, 2, 6, 1)),
}
expected = [
    np.array([4.74884033203125, 2.704554557800293, 1.0205954313278198, 4.549492835998535, 4.573644161224365, 2.3174610137939453], dtype=np.dtype('float32')).reshape((1, 2, 3, 1)),
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
BOUNDS = [np.array([2.7053916968533136e-06, 1.4500200467020819e-06, 4.878979623138234e-07, 2.580195530015767e-06, 2.595335871584278e-06, 1.2211471920509943e-06], dtype=np.dtype('float64')).reshape((1, 2, 3, 1))]


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
