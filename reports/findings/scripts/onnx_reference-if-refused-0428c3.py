"""If with type of outputs is float: refused (...attributes ['attributes', 'context', 'else_branch', 'then_branch'] and linked attributes=[] (operator 'If').), an empty optional expected

The text: «Has N outputs: values you wish to be live-out to the enclosing scope.»
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
   ir_version: 12,
   opset_import: ["" : 24],
   producer_name: "onnx-conformance"
>
If_24_optional_true (bool cond, optional(float[]) a) => (optional(float[]) outputs_0) {
   [If] outputs_0 = If (cond) <else_branch: graph = else_branch () => (optional(float[]) y) {
      y = Identity (b)
   }, then_branch: graph = then_branch () => (optional(float[]) y) {
      y = Identity (a)
   }>
}
""")
inputs = {
    'cond': np.array([True], dtype=np.dtype('bool')).reshape(()),
    'a': None,
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
