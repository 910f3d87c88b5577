"""ai.onnx.ml/TreeEnsembleClassifier with length of nodes_hitrates = 1: int64[1] 1; float[1,2] 0 2 where the text demands a refusal

The text: «form a sequence of tuples, associated by index into the sequences, which must all be of equal»
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
   opset_import: ["ai.onnx.ml" : 1],
   producer_name: "onnx-conformance"
>
TreeEnsembleClassifier_1_hitrates_of_other_length (float[1,2] X) => (int64[] Y, float[] Z) {
   [TreeEnsembleClassifier] Y, Z = ai.onnx.ml.TreeEnsembleClassifier <class_ids: ints = [0, 1, 1], class_nodeids: ints = [1, 1, 2], class_treeids: ints = [0, 0, 0], class_weights: floats = [0.5, 0.25, 2], classlabels_int64s: ints = [-3, 1], nodes_falsenodeids: ints = [2, 0, 0], nodes_featureids: ints = [1, 0, 0], nodes_hitrates: floats = [], nodes_modes: strings = ["BRANCH_LEQ", "LEAF", "LEAF"], nodes_nodeids: ints = [0, 1, 2], nodes_treeids: ints = [0, 0, 0], nodes_truenodeids: ints = [1, 0, 0], nodes_values: floats = [0.5, 0, 0]> (X)
}
""")
inputs = {
    'X': np.array([1.0, 5.0], dtype=np.dtype('float32')).reshape((1, 2)),
}
print('expected: to be refused: «form a sequence of tuples, associated by index into the sequences, which must all be of equal»')

try:
    import onnxruntime
    
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = session.run(None, inputs)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(0)

print("got:     ", outputs)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
