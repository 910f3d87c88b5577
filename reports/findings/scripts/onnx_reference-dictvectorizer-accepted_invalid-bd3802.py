"""ai.onnx.ml/DictVectorizer with values of int64_vocabulary differ: string[1] 'y' where the text demands a refusal

The text: «All keys in the input dictionary must be present in the index mapping vector.»
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
   ir_version: 3,
   opset_import: ["ai.onnx.ml" : 1],
   producer_name: "onnx-conformance"
>
DictVectorizer_1_int64_to_string_unknown (map(int64, string[]) X) => (string[] Y) {
   [DictVectorizer] Y = ai.onnx.ml.DictVectorizer <int64_vocabulary: ints = [0]> (X)
}
""")
inputs = {
    'X': {0: np.array(['y'], dtype=object).reshape(()), 7: np.array(['x'], dtype=object).reshape(()), 5: np.array(['0'], dtype=object).reshape(()), 1099511627776: np.array(['ä'], dtype=object).reshape(()), -3: np.array([''], dtype=object).reshape(()), 99: np.array(['x'], dtype=object).reshape(())},
}
print('expected: to be refused: «All keys in the input dictionary must be present in the index mapping vector.»')

try:
    import onnx.reference
    
    outputs = onnx.reference.ReferenceEvaluator(model).run(None, inputs)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(0)

print("got:     ", outputs)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
