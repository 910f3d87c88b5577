"""QuantizeLinear with form is @overridden: refused (...QuantizeLinear_2): [ShapeInferenceError] Inferred shape and existing shape differ in dimension 0: (3) vs (1)), uint8[1,1,1] 0 expected

The text: «y = saturate ((x / y_scale) + y_zero_point)»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnx.checker, full 1.23.2
"""

import os
import subprocess
import sys

if sys.argv[1:] != ["once"]:  # In a process of its own: what the runtime does may end it, or never end.
    try:
        status = subprocess.run([sys.executable, __file__, "once"], timeout=30).returncode
    except subprocess.TimeoutExpired:
        status = "timeout"
    words = {0: "", 2: None, 101: "wrong", 102: "refused", 103: "accepted", 104: "invalid", "timeout": "timeout"}
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
   opset_import: ["" : 18]
>
graph (float sy, float[3] s, float[1,1,1] d) => (uint8[1,1,1] y) 
   <float sy =  {1.0742}, float[3] s =  {3,5,3}>
{
   [Resize_1] f = Resize (d, "", s)
   [QuantizeLinear_2] y = QuantizeLinear (f, sy)
}
""")
inputs = {
    'sy': np.array([1.0], dtype=np.dtype('float32')).reshape(()),
    's': np.array([1.0, 1.0, 1.0], dtype=np.dtype('float32')).reshape((3,)),
    'd': np.array([0.0], dtype=np.dtype('float32')).reshape((1, 1, 1)),
}
expected = [
    np.array([0], dtype=np.dtype('uint8')).reshape((1, 1, 1)),
]
print("expected:", expected)

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    import onnx.checker
    
    onnx.checker.check_model(model, full_check=True)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)
BOUNDS = [np.array([0.0], dtype=np.dtype('float64')).reshape((1, 1, 1))]


print("accepted")
outputs = expected


def check(where, wanted, got, bound=0):
    assert not isinstance(got, (list, dict)) and got is not None, f"{where}: a tensor expected, {got} got"
    got = np.asarray(got)
    assert wanted.dtype == got.dtype, f"{where}: {wanted.dtype} expected, {got.dtype} got"
    assert wanted.shape == got.shape, f"{where}: shape {wanted.shape} expected, {got.shape} got"
    a, b, bound = (np.ravel(array) for array in (wanted, got, np.broadcast_to(bound, wanted.shape)))
    differs = ~((a == b) | ((a != a) & (b != b)))
    count = int(differs.sum())
    assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got, BOUNDS[index])
print("as expected")
