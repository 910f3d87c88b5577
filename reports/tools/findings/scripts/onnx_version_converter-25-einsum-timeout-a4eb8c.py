"""Einsum: no answer, a refusal expected

The text: «The equation string contains a comma-separated sequence of lower case letters and/or upper case letters.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnx.version_converter to 25 1.23.2
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
   ir_version: 7,
   opset_import: ["" : 12],
   producer_name: "onnx-conformance"
>
Einsum_12_tab (float[2,3] Inputs_0) => (float[Output_0,Output_1] Output) {
   [Einsum] Output = Einsum <equation: string = "ij\t->ji"> (Inputs_0)
}
""")
inputs = {
    'Inputs_0': np.array([0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.49411335587501526, 0.79848712682724, -0.6998746991157532], dtype=np.dtype('float32')).reshape((2, 3)),
}
print('expected: to be refused: «The equation string contains a comma-separated sequence of lower case letters and/or upper case letters.»')

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    import onnx.version_converter
    
    model = onnx.version_converter.convert_version(model, 25)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(0)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
