"""Bernoulli with input has a fraction: drawn: one of 2 values each, mean 0, deviation 0 expected, 1 elements are none of their 2 choices came

The text: «(Optional) Seed to the random generator, if not specified we will auto generate one.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxruntime's optimizer, extended 1.31.1
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
Bernoulli_15_seed (float[1,1] input) => (float[1,1] output) {
   [Bernoulli] output = Bernoulli (input)
}
""")
inputs = {
    'input': np.array([0.0], dtype=np.dtype('float32')).reshape((1, 1)),
}
expected = [
    ('drawn', {'type': 'float', 'shape': [1, 1], 'mean': [[0.0]], 'deviation': [[0.0]], 'choices': [[[0.0]], [[0.0]]]}),
]
print("expected:", expected)

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    import onnx
    import onnxruntime
    
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = "optimized.onnx"
    onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"], disabled_optimizers=[]
    )
    model = onnx.load("optimized.onnx")
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)
import pickle

import onnx.checker
import onnx.reference

try:
    onnx.checker.check_model(model)
    first = onnx.load_from_string(original).graph
    there = [item.name for item in model.graph.output]
    assert there == names, f"outputs {names} expected, {there} came"
    for before, after in zip(first.output, model.graph.output):
        types = [(item.type.WhichOneof("value"), item.type.tensor_type.elem_type) for item in (before, after)]
        same = types[0] == types[1] or not all(kind for kind, _ in types)
        assert same, f"{before.name}: {types[0]} expected, {types[1]} came"
    known = {item.name for item in (*first.input, *model.graph.initializer)}
    extra = [item.name for item in model.graph.input if item.name not in known]
    assert not extra, f"it has the inputs {extra}, which the first model has not"
    # Any evaluator will do in the place of onnx.reference that is right on the model before the change.
    outputs = onnx.reference.ReferenceEvaluator(model).run(names, inputs)
except Exception as error:
    print("the model that it made is invalid: ", error, flush=True)
    os._exit(104)
before = onnx.reference.ReferenceEvaluator(onnx.load_from_string(original)).run(names, inputs)
if pickle.dumps(before) == pickle.dumps(outputs):
    print("the model that it made has the values of the first", flush=True)
    os._exit(0)

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
