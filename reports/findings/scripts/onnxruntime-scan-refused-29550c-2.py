"""Scan with form is @unranked: refused (...Scan node. Name:'Scan' Status Message: Subgraph must have the shape set for all outputs but t did not.), float[1] 0; float[1,1] 0 expected

The text: «ONNX restriction that only the last parameter of an operator can be variadic»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxruntime 1.32.0
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
   opset_import: ["" : 8],
   producer_name: "onnx-conformance"
>
Scan_8_batches (float[initial_state_and_scan_inputs_0_size] initial_state_and_scan_inputs_0_data, int64[initial_state_and_scan_inputs_0_rank] initial_state_and_scan_inputs_0_shape, float[initial_state_and_scan_inputs_1_size] initial_state_and_scan_inputs_1_data, int64[initial_state_and_scan_inputs_1_rank] initial_state_and_scan_inputs_1_shape) => (float[final_state_and_scan_outputs_0_0] final_state_and_scan_outputs_0, float[final_state_and_scan_outputs_1_0,final_state_and_scan_outputs_1_1] final_state_and_scan_outputs_1) {
   [Reshape_initial_state_and_scan_inputs_0] initial_state_and_scan_inputs_0 = Reshape (initial_state_and_scan_inputs_0_data, initial_state_and_scan_inputs_0_shape)
   [Reshape_initial_state_and_scan_inputs_1] initial_state_and_scan_inputs_1 = Reshape (initial_state_and_scan_inputs_1_data, initial_state_and_scan_inputs_1_shape)
   [Scan] final_state_and_scan_outputs_0, final_state_and_scan_outputs_1 = Scan ("", initial_state_and_scan_inputs_0, initial_state_and_scan_inputs_1) <body: graph = body (float[] s, float[] x) => (float[] t, float[] y) {
      t = Add (s, x)
      y = Identity (t)
   }, num_scan_inputs: int = 1>
}
""")
inputs = {
    'initial_state_and_scan_inputs_0_data': np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
    'initial_state_and_scan_inputs_0_shape': np.array([1], dtype=np.dtype('int64')).reshape((1,)),
    'initial_state_and_scan_inputs_1_data': np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
    'initial_state_and_scan_inputs_1_shape': np.array([1, 1], dtype=np.dtype('int64')).reshape((2,)),
}
expected = [
    np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
    np.array([0.0], dtype=np.dtype('float32')).reshape((1, 1)),
]
print("expected:", expected)

try:
    import onnxruntime
    
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = session.run(None, inputs)
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
    if wanted.dtype.kind == "f":  # +0 and -0 differ.
        signs = (np.signbit(np.asarray(array)[wanted == 0]) for array in (got, wanted))
        np.testing.assert_array_equal(*signs, f"outputs[{index}], signs of zeros")
print("as expected")
