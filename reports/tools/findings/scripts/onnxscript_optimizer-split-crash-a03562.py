"""Split: the process ends by SIGABRT, a refusal expected

The text: «Number of outputs to split parts of the tensor into.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxscript.optimizer 0.7.2
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
   opset_import: ["" : 18],
   producer_name: "onnx-conformance"
>
Split_18_outputs_beyond_num_outputs (float[1] input) => (float[outputs_0_0] outputs_0, float[outputs_1_0] outputs_1) {
   [Split] outputs_0, outputs_1 = Split <num_outputs: int = 1> (input)
}
""")
inputs = {
    'input': np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
}
print('expected: to be refused: «Number of outputs to split parts of the tensor into.»')

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    import onnx_ir
    import onnx_ir.passes.common as common
    import onnxscript.optimizer
    import onnxscript.rewriter
    
    model = onnx_ir.from_proto(model)
    onnxscript.optimizer.fold_constants_ir(model, onnx_shape_inference=True)
    model = onnx_ir.to_proto(model)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(0)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
