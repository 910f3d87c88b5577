"""ai.onnx.ml/TreeEnsemble: an answer where the text demands a refusal

The text: «The comparison operation performed by the node. This is encoded as an enumeration of 0 ('BRANCH_LEQ')»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnx.checker, full 1.23.2
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

# onnx's text format cannot hold this model; it is the serialized ModelProto.
model = onnx.load_from_string(b'\x08\n\x12\x10onnx-conformance:\x8a\x03\n\xba\x02\n\x01X\x12\x01Y\x1a\x0cTreeEnsemble"\x0cTreeEnsemble*\x13\n\x0eleaf_targetids\xa0\x01\x07*\x19\n\x0cleaf_weights*\x06\x08\x00\x10\x01J\x00\xa0\x01\x04*\x10\n\tn_targets\x18\x00\xa0\x01\x02*\x17\n\x10nodes_falseleafs@\x00\xa0\x01\x07*\x19\n\x12nodes_falsenodeids@\x00\xa0\x01\x07*\x17\n\x10nodes_featureids@\x00\xa0\x01\x07*\x19\n\x0bnodes_modes*\x07\x08\x01\x10\x02J\x01\x07\xa0\x01\x04*\x1d\n\x0cnodes_splits*\n\x08\x01\x10\x01J\x04\x00\x00\x00\x00\xa0\x01\x04*\x16\n\x0fnodes_trueleafs@\x00\xa0\x01\x07*\x18\n\x11nodes_truenodeids@\x00\xa0\x01\x07*\x0f\n\ntree_roots\xa0\x01\x07:\nai.onnx.ml\x12\x1bTreeEnsemble_5_mode_unknownZ\x13\n\x01X\x12\x0e\n\x0c\x08\x01\x12\x08\n\x02\x08\x01\n\x02\x08\x01b\x19\n\x01Y\x12\x14\n\x12\x08\x01\x12\x0e\n\x05\x12\x03Y_0\n\x05\x12\x03Y_1B\x0e\n\nai.onnx.ml\x10\x05')
inputs = {
    'X': np.array([0.0], dtype=np.dtype('float32')).reshape((1, 1)),
}
print("expected: to be refused: «The comparison operation performed by the node. This is encoded as an enumeration of 0 ('BRANCH_LEQ')»")

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    import onnx.checker
    
    onnx.checker.check_model(model, full_check=True)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(0)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
