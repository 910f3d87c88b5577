"""NonMaxSuppression: refused (AssertionError), int64[1,3] 0 0 0 expected

The text: «The selected_indices output is a set of integers indexing into the input collection of bounding boxes»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxruntime's symbolic shape inference 1.31.1
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
   ir_version: 5,
   opset_import: ["" : 10],
   producer_name: "onnx-conformance"
>
NonMaxSuppression_10_plain (float[boxes_size] boxes_data, int64[boxes_rank] boxes_shape, float[scores_size] scores_data, int64[scores_rank] scores_shape, int64[max_output_boxes_per_class_size] max_output_boxes_per_class_data, int64[max_output_boxes_per_class_rank] max_output_boxes_per_class_shape) => (int64[selected_indices_0,selected_indices_1] selected_indices) {
   [Reshape_boxes] boxes = Reshape (boxes_data, boxes_shape)
   [Reshape_scores] scores = Reshape (scores_data, scores_shape)
   [Reshape_max_output_boxes_per_class] max_output_boxes_per_class = Reshape (max_output_boxes_per_class_data, max_output_boxes_per_class_shape)
   [NonMaxSuppression] selected_indices = NonMaxSuppression (boxes, scores, max_output_boxes_per_class)
}
""")
inputs = {
    'boxes_data': np.array([0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((4,)),
    'boxes_shape': np.array([1, 1, 4], dtype=np.dtype('int64')).reshape((3,)),
    'scores_data': np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
    'scores_shape': np.array([1, 1, 1], dtype=np.dtype('int64')).reshape((3,)),
    'max_output_boxes_per_class_data': np.array([1], dtype=np.dtype('int64')).reshape((1,)),
    'max_output_boxes_per_class_shape': np.array([], dtype=np.dtype('int64')).reshape((0,)),
}
expected = [
    np.array([0, 0, 0], dtype=np.dtype('int64')).reshape((1, 3)),
]
print("expected:", expected)

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference
    
    for output in model.graph.output:
        output.ClearField("type")
    model = SymbolicShapeInference.infer_shapes(model)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

for name, wanted in zip(names, expected):
    type_ = next(item.type for item in model.graph.output if item.name == name)
    print(f"inferred of {name}: {type_}")
    if not isinstance(wanted, np.ndarray) or not type_.WhichOneof("value"):
        continue
    tensor = type_.tensor_type
    number = onnx.helper.np_dtype_to_tensor_dtype(wanted.dtype)
    assert tensor.elem_type in {0, number}, f"{name}: element type {number} expected, {tensor.elem_type} inferred"
    if tensor.HasField("shape"):
        sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]
        fits = len(sizes) == wanted.ndim and all(a in (None, b) for a, b in zip(sizes, wanted.shape))
        assert fits, f"{name}: shape {wanted.shape} expected, {sizes} inferred"
outputs = expected

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
