"""Less with axis is not the last dimension: refused (...with friendly_name 'Less_3': Argument shapes are inconsistent. Summary: -- Conversion is failed for: Less-1), bool[1,3,2] false false false false false false expected

The text: «See the doc of `Add` for a detailed description of the broadcasting rules.»
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
Less_1_limited_axis_one (float[1,3,2] A, float[3] B) => (bool[1,3,2] C) {
   [Less] C = Less <axis: int = 1, broadcast: int = 1> (A, B)
}
""")
inputs = {
    'A': np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((1, 3, 2)),
    'B': np.array([0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((3,)),
}
expected = [
    np.array([False, False, False, False, False, False], dtype=np.dtype('bool')).reshape((1, 3, 2)),
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

assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    assert isinstance(got, (np.ndarray, np.generic)), f"outputs[{index}]: a tensor expected, {got} got"
    np.testing.assert_array_equal(got, wanted, f"outputs[{index}]", strict=True)
print("as expected")
