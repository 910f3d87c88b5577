"""Bernoulli with form is @unranked: refused (AssertionError), float[1,1] drawn: one of 2 values each, mean 0, deviation 0 expected

The text: «The input tensor should be a tensor containing probabilities p (a value in the range [0,1]) to be used for drawing the binary random number, where an output of 1 is produced with probability p and an output of 0 is produced with probability (1-p).»
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
   ir_version: 8,
   opset_import: ["" : 15],
   producer_name: "onnx-conformance"
>
Bernoulli_15_steps (float[input_size] input_data, int64[input_rank] input_shape) => (float[output_0,output_1] output) {
   [Reshape_input] input = Reshape <allowzero: int = 1> (input_data, input_shape)
   [Bernoulli] output = Bernoulli (input)
}
""")
inputs = {
    'input_data': np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
    'input_shape': np.array([1, 1], dtype=np.dtype('int64')).reshape((2,)),
}
expected = [
    ('drawn', {'type': 'float', 'shape': [1, 1], 'mean': [[0.0]], 'deviation': [[0.0]], 'choices': [[[0.0]], [[0.0]]]}),
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
EPS = {'float32': 1.1920928955078125e-07}  # One unit in the last place, beside 1.


def check_drawn(where, wanted, got):
    name = {"float32": "float", "float64": "double"}.get(got.dtype.name, got.dtype.name)
    assert name == wanted["type"], f"{where}: {wanted['type']} expected, {name} got"
    assert list(got.shape) == wanted["shape"], f"{where}: shape {wanted['shape']} expected, {got.shape} got"
    values = got.astype(float)
    if "same_as" in wanted:
        assert (got == outputs[wanted["same_as"]]).all(), f"{where}: the same seed gave other values"
    for limit, beyond in (("low", np.less), ("high", np.greater)):
        if limit in wanted:
            wrong = beyond(values, float(np.asarray(wanted[limit]).astype(got.dtype)))
            assert not wrong.any(), f"{where}: {values[wrong]} beyond {limit} {wanted[limit]}"
    if "choices" in wanted and "chosen_by" in wanted:
        choices = np.where(outputs[wanted["chosen_by"]], wanted["choices"][1], wanted["choices"][0])
        near = np.isclose(values, choices, rtol=8 * EPS.get(got.dtype.name, 0))
        assert near.all(), f"{where}: {choices} expected, {got} got"
    elif "choices" in wanted:
        near = [np.isclose(values, choice, rtol=8 * EPS.get(got.dtype.name, 0)) for choice in wanted["choices"]]
        assert np.logical_or.reduce(near).all(), f"{where}: one of {wanted['choices']} expected, {got} got"
    if "mean" in wanted and "deviation" in wanted:
        deviation = np.sqrt(np.square(np.broadcast_to(wanted["deviation"], got.shape)).sum())
        off = abs((values - wanted["mean"]).sum()) / deviation if deviation else 0
        assert off <= 6, f"{where}: the mean is {values.mean()}, {off:.3g} sigma from what it should be"
        if "kurtosis" in wanted:
            ratio = np.square(values - wanted["mean"]).sum() / deviation**2
            allowed = 6 * np.sqrt((wanted["kurtosis"] - 1) / got.size)
            assert abs(ratio - 1) <= allowed, f"{where}: {ratio} of the variance"


def check(where, wanted, got, bound=0):
    if isinstance(wanted, tuple):
        return check_drawn(where, wanted[1], np.asarray(got))


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got)
print("as expected")
