"""ai.onnx.ml/TreeEnsemble: refused (...node name: TreeEnsemble): [ShapeInferenceError] Attribute 'nodes_hitrates' must have type FLOAT.), double[1,1] 0 expected

The text: «The input type must be a tensor of a numeric type.»
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
model = onnx.load_from_string(b'\x08\n\x12\x10onnx-conformance:\xb2\x03\n\xe3\x02\n\x01X\x12\x01Y\x1a\x0cTreeEnsemble"\x0cTreeEnsemble*\x13\n\x0eleaf_targetids\xa0\x01\x07*\x19\n\x0cleaf_weights*\x06\x08\x00\x10\x0bJ\x00\xa0\x01\x04*\x10\n\tn_targets\x18\x01\xa0\x01\x02*\x17\n\x10nodes_falseleafs@\x00\xa0\x01\x07*\x19\n\x12nodes_falsenodeids@\x00\xa0\x01\x07*\x17\n\x10nodes_featureids@\x00\xa0\x01\x07*#\n\x0enodes_hitrates*\x0e\x08\x01\x10\x0bJ\x08\x00\x00\x00\x00\x00\x00\x00\x00\xa0\x01\x04*\x19\n\x0bnodes_modes*\x07\x08\x01\x10\x02J\x01\x00\xa0\x01\x04*!\n\x0cnodes_splits*\x0e\x08\x01\x10\x0bJ\x08\x00\x00\x00\x00\x00\x00\x00\x00\xa0\x01\x04*\x16\n\x0fnodes_trueleafs@\x00\xa0\x01\x07*\x18\n\x11nodes_truenodeids@\x00\xa0\x01\x07*\x0f\n\ntree_roots\xa0\x01\x07:\nai.onnx.ml\x12 TreeEnsemble_5_signature_types_tZ\x13\n\x01X\x12\x0e\n\x0c\x08\x0b\x12\x08\n\x02\x08\x01\n\x02\x08\x01b\x13\n\x01Y\x12\x0e\n\x0c\x08\x0b\x12\x08\n\x02\x08\x01\n\x02\x08\x01B\x0e\n\nai.onnx.ml\x10\x05')
inputs = {
    'X': np.array([0.0], dtype=np.dtype('float64')).reshape((1, 1)),
}
expected = [
    np.array([0.0], dtype=np.dtype('float64')).reshape((1, 1)),
]
print("expected:", expected)

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    import onnx.checker
    
    onnx.checker.check_model(model, full_check=True)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("accepted")
outputs = expected

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([3.552713678800501e-15], dtype=np.dtype('float64')).reshape((1, 1))]


def check(where, wanted, got, bound=0):
    assert not isinstance(got, (list, dict)) and got is not None, f"{where}: a tensor expected, {got} got"
    got = np.asarray(got)
    assert wanted.dtype == got.dtype, f"{where}: {wanted.dtype} expected, {got.dtype} got"
    assert wanted.shape == got.shape, f"{where}: shape {wanted.shape} expected, {got.shape} got"
    a, b, bound = (np.ravel(array) for array in (wanted, got, np.broadcast_to(bound, wanted.shape)))
    differs = ~((a == b) | ((a != a) & (b != b)))
    if "float" in a.dtype.name:
        with np.errstate(all="ignore"):
            wide, far = np.abs(a.astype(float)), np.abs(a.astype(float) - b.astype(float))
            near = far <= np.maximum(ATOL + (RTOL + ULP * EPS.get(a.dtype.name, 0)) * wide, bound)
        differs &= ~(near & np.isfinite(far))
    count = int(differs.sum())
    assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got, BOUNDS[index])
print("as expected")
