"""Loop with the value of M is 3: float[1] 0; float[1] 0; float[2,1] 0 0 where the text demands a refusal

The text: «It is an error if the dimensions or data type of these scan_outputs change»
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
   ir_version: 6,
   opset_import: ["" : 11],
   producer_name: "onnx-conformance"
>
Loop_11_scan_of_other_size (int64 M, float[2] v_initial_0, float[1] v_initial_1) => (float[] v_final_and_scan_outputs_0, float[] v_final_and_scan_outputs_1, float[] v_final_and_scan_outputs_2) {
   [Loop] v_final_and_scan_outputs_0, v_final_and_scan_outputs_1, v_final_and_scan_outputs_2 = Loop (M, "", v_initial_0, v_initial_1) <body: graph = body (int64 i, bool c, float[] p, float[] q) => (bool c, float[] q, float[] p, float[] y) {
      y = Identity (p)
   }>
}
""")
inputs = {
    'M': np.array([2], dtype=np.dtype('int64')).reshape(()),
    'v_initial_0': np.array([0.0, 0.0], dtype=np.dtype('float32')).reshape((2,)),
    'v_initial_1': np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
}
print('expected: to be refused: «It is an error if the dimensions or data type of these scan_outputs change»')

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
    os._exit(0)

print("got:     ", outputs)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
