"""Unsqueeze: float[1,1,1,1] 0 where the text demands a refusal

The text: «The input `axes` should not contain any duplicate entries. It is an error if it contains duplicates.»
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
   ir_version: 7,
   opset_import: ["" : 13],
   producer_name: "onnx-conformance"
>
Unsqueeze_13_twice (float[1,1] data, int64[2] axes) => (float[expanded_0,expanded_1,expanded_2,expanded_3] expanded) {
   [Unsqueeze] expanded = Unsqueeze (data, axes)
}
""")
inputs = {
    'data': np.array([0.0], dtype=np.dtype('float32')).reshape((1, 1)),
    'axes': np.array([1, 1], dtype=np.dtype('int64')).reshape((2,)),
}
print('expected: to be refused: «The input `axes` should not contain any duplicate entries. It is an error if it contains duplicates.»')

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
    os._exit(0)

print("got:     ", outputs)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
