"""DynamicQuantizeLinear with form is @unranked: refused (AssertionError), uint8[2] drawn: one of 3 values each; float[] 0.00784314; uint8[] 0 expected

The text: «where qmax and qmin are max and min values for quantization range .i.e [0, 255] in case of uint8»
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
   ir_version: 6,
   opset_import: ["" : 11],
   producer_name: "onnx-conformance"
>
DynamicQuantizeLinear_11_both_signs (float[x_size] x_data, int64[x_rank] x_shape) => (uint8[y_0] y, float y_scale, uint8 y_zero_point) {
   [Reshape_x] x = Reshape (x_data, x_shape)
   [DynamicQuantizeLinear] y, y_scale, y_zero_point = DynamicQuantizeLinear (x)
}
""")
inputs = {
    'x_data': np.array([1.0, 2.0], dtype=np.dtype('float32')).reshape((2,)),
    'x_shape': np.array([2], dtype=np.dtype('int64')).reshape((1,)),
}
expected = [
    ('drawn', {'type': 'uint8', 'shape': [2], 'choices': [[127.0, 255.0], [128.0, 255.0], [127.0, 255.0]]}),
    np.array([0.007843137718737125], dtype=np.dtype('float32')).reshape(()),
    np.array([0], dtype=np.dtype('uint8')).reshape(()),
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
RTOL, ATOL, ULP = (0, 0, 2)
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
    check(f"outputs[{index}]", wanted, got)
print("as expected")
