"""NonMaxSuppression: shape [1, 3] expected, shape [0, 3] came

The text: «Float representing the threshold for deciding when to remove boxes based on score. It is a scalar.»
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
   ir_version: 5,
   opset_import: ["" : 10],
   producer_name: "onnx-conformance"
>
NonMaxSuppression_10_score_equal_to_the_lowest (float[1,6,4] boxes, float[1,1,6] scores, int64 max_output_boxes_per_class, float score_threshold) => (int64[1,3] selected_indices) {
   [NonMaxSuppression] selected_indices = NonMaxSuppression (boxes, scores, max_output_boxes_per_class, "", score_threshold)
}
""")
inputs = {
    'boxes': np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((1, 6, 4)),
    'scores': np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.30000001192092896], dtype=np.dtype('float32')).reshape((1, 1, 6)),
    'max_output_boxes_per_class': np.array([1], dtype=np.dtype('int64')).reshape(()),
    'score_threshold': np.array([0.30000001192092896], dtype=np.dtype('float32')).reshape(()),
}
expected = [
    np.array([0, 0, 5], dtype=np.dtype('int64')).reshape((1, 3)),
]
print("expected:", expected)

try:
    import onnxruntime
    
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = session.run(None, inputs)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
AXIS, LANEWISE = 0, False


def check(where, wanted, got, bound=0):
    assert not isinstance(got, (list, dict)) and got is not None, f"{where}: a tensor expected, {got} got"
    got = np.asarray(got)
    assert wanted.dtype == got.dtype, f"{where}: {wanted.dtype} expected, {got.dtype} got"
    assert wanted.shape == got.shape, f"{where}: shape {wanted.shape} expected, {got.shape} got"
    a, b, bound = (np.ravel(array) for array in (wanted, got, np.broadcast_to(bound, wanted.shape)))
    differs = ~((a == b) | ((a != a) & (b != b)))
    count = int(differs.sum())
    assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"


def sorted_rows(arrays):
    keys = sorted(arrays, key=lambda array: array.dtype.kind not in "biu")  # By the integers first.
    keys = [key if key.dtype.isbuiltin == 1 else key.astype(float) for key in keys]
    if LANEWISE:
        order = np.lexsort([np.moveaxis(key, AXIS, 0) for key in reversed(keys)], axis=0)
        return [np.take_along_axis(array, np.moveaxis(order, 0, AXIS), AXIS) for array in arrays]
    columns = [column for key in keys for column in np.moveaxis(key, AXIS, 0).reshape(key.shape[AXIS], -1).T]
    order = np.lexsort(columns[::-1]) if columns else slice(None)
    return [np.moveaxis(np.moveaxis(array, AXIS, 0)[order], 0, AXIS) for array in arrays]


outputs = [np.asarray(output) for output in outputs]
if [array.shape for array in outputs] == [array.shape for array in expected]:  # The text leaves the order open.
    expected, outputs = sorted_rows(expected), sorted_rows(outputs)


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got)
print("as expected")
