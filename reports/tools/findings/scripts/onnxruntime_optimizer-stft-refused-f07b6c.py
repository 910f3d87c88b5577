"""STFT: refused ([ONNXRuntimeError] : 1 : FAIL : Node (STFT) Op (STFT) [ShapeInferenceError] frame_length input must be scalar.), float[1,1,1,2] 0 0 expected

The text: «`frame_step` must be a scalar.»
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
   opset_import: ["" : 17]
>
STFT_17_step_of_shape_1 (float[1,1,1] signal) => (float[1,1,1,2] output) 
   <int64[1] frame_step =  {1}, int64[1] frame_length =  {1}>
{
   [STFT] output = STFT (signal, frame_step, "", frame_length)
}
""")
inputs = {
    'signal': np.array([0.0], dtype=np.dtype('float32')).reshape((1, 1, 1)),
}
expected = [
    np.array([0.0, 0.0], dtype=np.dtype('float32')).reshape((1, 1, 1, 2)),
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
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([0.0, 0.0], dtype=np.dtype('float64')).reshape((1, 1, 1, 2))]


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
