"""If with number of outputs = 1: float[0] where the text demands a refusal

The text: «The tensor must contain a single element.»
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
   ir_version: 3,
   opset_import: ["" : 1],
   producer_name: "onnx-conformance"
>
If_1_cond_of_none (bool[0] cond, float[0] a, float[0] b) => (float[] outputs_0) {
   [If] outputs_0 = If (cond) <else_branch: graph = else_branch () => (float[] y) {
      y = Identity (b)
   }, then_branch: graph = then_branch () => (float[] y) {
      y = Identity (a)
   }>
}
""")
inputs = {
    'cond': np.array([], dtype=np.dtype('bool')).reshape((0,)),
    'a': np.array([], dtype=np.dtype('float32')).reshape((0,)),
    'b': np.array([], dtype=np.dtype('float32')).reshape((0,)),
}
print('expected: to be refused: «The tensor must contain a single element.»')

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
