"""ai.onnx.ml/TreeEnsembleClassifier: refused (...shape=(1,), dim_params=(None,)], Z: tensor[dtype=float, shape=(1, 3), dim_params=(None, None)]])), int64[1] 1; float[1,3] 0.5 0 0.25 expected

The text: «instead of the same parameter without the suffix if the element type is double and not float.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and emx-onnx-cgen 1.4.0
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

# onnx's text format cannot hold this model; it is the serialized ModelProto.
model = onnx.load_from_string(b'\x08\x08\x12\x10onnx-conformance:\xd9\x04\n\xea\x03\n\x01X\x12\x01Y\x12\x01Z\x1a\x16TreeEnsembleClassifier"\x16TreeEnsembleClassifier*\x14\n\tclass_ids@\x00@\x02@\x01\xa0\x01\x07*\x18\n\rclass_nodeids@\x01@\x01@\x02\xa0\x01\x07*\x18\n\rclass_treeids@\x00@\x00@\x00\xa0\x01\x07*<\n\x17class_weights_as_tensor*\x1e\x08\x03\x10\x0bJ\x18\x00\x00\x00\x00\x00\x00\xe0?\x00\x00\x00\x00\x00\x00\xd0?\x00\x00\x00\x00\x00\x00\x00@\xa0\x01\x04*&\n\x12classlabels_int64s@\x01@\xfd\xff\xff\xff\xff\xff\xff\xff\xff\x01@\x01\xa0\x01\x07*\x1d\n\x12nodes_falsenodeids@\x02@\x00@\x00\xa0\x01\x07*\x1b\n\x10nodes_featureids@\x01@\x00@\x00\xa0\x01\x07*(\n\x0bnodes_modesJ\nBRANCH_LEQJ\x04LEAFJ\x04LEAF\xa0\x01\x08*\x18\n\rnodes_nodeids@\x00@\x01@\x02\xa0\x01\x07*\x18\n\rnodes_treeids@\x00@\x00@\x00\xa0\x01\x07*\x1c\n\x11nodes_truenodeids@\x01@\x00@\x00\xa0\x01\x07*;\n\x16nodes_values_as_tensor*\x1e\x08\x03\x10\x0bJ\x18\x9a\x99\x99\x99\x99\x99\xb9?\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xa0\x01\x04:\nai.onnx.ml\x12/TreeEnsembleClassifier_3_doubles_near_thresholdZ\x13\n\x01X\x12\x0e\n\x0c\x08\x0b\x12\x08\n\x02\x08\x01\n\x02\x08\x02b\x0f\n\x01Y\x12\n\n\x08\x08\x07\x12\x04\n\x02\x08\x01b\x13\n\x01Z\x12\x0e\n\x0c\x08\x01\x12\x08\n\x02\x08\x01\n\x02\x08\x03B\x0e\n\nai.onnx.ml\x10\x03')
inputs = {
    'X': np.array([0.0, 0.0], dtype=np.dtype('float64')).reshape((1, 2)),
}
expected = [
    np.array([1], dtype=np.dtype('int64')).reshape((1,)),
    np.array([0.5, 0.0, 0.25], dtype=np.dtype('float32')).reshape((1, 3)),
]
print("expected:", expected)

try:
    from emx_onnx_cgen import onnx_backend
    
    outputs = onnx_backend.run_model(model, list(inputs.values()))
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([0.0], dtype=np.dtype('float64')).reshape(()), np.array([2.3990869522094727e-06], dtype=np.dtype('float64')).reshape(())]


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
