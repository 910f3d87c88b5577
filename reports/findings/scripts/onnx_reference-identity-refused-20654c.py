"""Identity with input is an empty optional: refused (...is no ONNX corresponding type (Map, List, Tensor, SparseTensor). All returned types: [<class 'NoneType'>].), an empty optional expected

The text: «Constrain input and output types to all tensor, sequence, and optional types.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnx.reference 1.23.2
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
   opset_import: ["" : 16],
   producer_name: "onnx-conformance"
>
Identity_16_optional_tensor_empty (optional(float[]) input) => (optional(float[]) output) {
   [Identity] output = Identity (input)
}
""")
inputs = {
    'input': None,
}
expected = [
    None,
]
print("expected:", expected)

try:
    import onnx.reference
    
    outputs = onnx.reference.ReferenceEvaluator(model).run(None, inputs)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)


def check(where, wanted, got, bound=0):
    if wanted is None:
        assert got is None, f"{where}: an empty optional expected, {got} got"
        return


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got)
print("as expected")
