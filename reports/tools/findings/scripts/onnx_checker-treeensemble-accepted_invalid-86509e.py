"""ai.onnx.ml/TreeEnsemble: an answer where the text demands a refusal

The text: «The input type must be a tensor of a numeric type.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnx.checker 1.23.2
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
model = onnx.load_from_string(b'\x08\n\x12\x10onnx-conformance:\xd2\x02\n\x9d\x02\n\x01X\x12\x01Y\x1a\x0cTreeEnsemble"\x0cTreeEnsemble*\x13\n\x0eleaf_targetids\xa0\x01\x07*\x1b\n\x0cleaf_weights*\x08\x10\x01J\x04\x00\x00\x00\x00\xa0\x01\x04*\x15\n\x10nodes_falseleafs\xa0\x01\x07*\x17\n\x12nodes_falsenodeids\xa0\x01\x07*\x15\n\x10nodes_featureids\xa0\x01\x07*\x18\n\x0bnodes_modes*\x06\x08\x00\x10\x02J\x00\xa0\x01\x04*\x1b\n\x0cnodes_splits*\x08\x10\x01J\x04\x00\x00\x00\x00\xa0\x01\x04*\x14\n\x0fnodes_trueleafs\xa0\x01\x07*\x16\n\x11nodes_truenodeids\xa0\x01\x07*\x0f\n\ntree_roots\xa0\x01\x07:\nai.onnx.ml\x12\x16TreeEnsemble_5_outsideZ\x0b\n\x01X\x12\x06\n\x04\x08\x07\x12\x00b\x0b\n\x01Y\x12\x06\n\x04\x08\x07\x12\x00B\x0e\n\nai.onnx.ml\x10\x05')
inputs = {
    'X': np.array([0], dtype=np.dtype('int64')).reshape(()),
}
print('expected: to be refused: «The input type must be a tensor of a numeric type.» (X is tensor(int64))')

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    import onnx.checker
    
    onnx.checker.check_model(model, full_check=False)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(0)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
