"""SplitToSequence with axis is the last dimension and input has a dimension of size 0: refused (...(op_type:SplitToSequence, node name: SplitToSequence): [ShapeInferenceError] Input 'split' can not be empty.), sequence of 0 () expected

The text: «In this scenario, the sum of entries in 'split' must be equal to the dimension size of input tensor on 'axis'.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnx.shape_inference, data_prop 1.23.2
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
   ir_version: 6,
   opset_import: ["" : 11]
>
SplitToSequence_11_lengths_none_dim_zero (float[0] input) => (seq(float[]) output_sequence) 
   <int64[0] split =  {}>
{
   [SplitToSequence] output_sequence = SplitToSequence (input, split)
}
""")
inputs = {
    'input': np.array([], dtype=np.dtype('float32')).reshape((0,)),
}
expected = [
    [],
]
print("expected:", expected)

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    import onnx.shape_inference
    
    for output in model.graph.output:
        output.ClearField("type")
    model = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
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


def check(where, wanted, got, bound=0):
    if isinstance(wanted, list):
        assert isinstance(got, (list, tuple)), f"{where}: a sequence expected, {type(got).__name__} got"
        assert len(wanted) == len(got), f"{where}: {len(wanted)} elements expected, {len(got)} got"
        for index, (expected, element) in enumerate(zip(wanted, got)):
            check(f"{where}[{index}]", expected, element, bound)
        return


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got)
print("as expected")
