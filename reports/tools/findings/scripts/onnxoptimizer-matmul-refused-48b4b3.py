"""MatMul: refused (...insertAfter: Assertion `!inGraphList() && n->inGraphList()` failed.), float[1,1,1] 0; float[1,1,1] 0; float[1,1,1] 0 expected

The text: «Performs element-wise binary subtraction»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxoptimizer 0.4.2
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
   opset_import: ["" : 18]
>
graph (float[1,1,1] x) => (float[1,1,1] a, float[1,1,1] b, float[1,1,1] c) 
   <float[1,1] q =  {0}, float[1,1] k =  {0}, float[1,1] v =  {0}>
{
   [MatMul_0] a = MatMul (x, q)
   [MatMul_1] b = MatMul (x, k)
   [MatMul_2] c = MatMul (x, v)
}
""")
inputs = {
    'x': np.array([0.0], dtype=np.dtype('float32')).reshape((1, 1, 1)),
}
expected = [
    np.array([0.0], dtype=np.dtype('float32')).reshape((1, 1, 1)),
    np.array([0.0], dtype=np.dtype('float32')).reshape((1, 1, 1)),
    np.array([0.0], dtype=np.dtype('float32')).reshape((1, 1, 1)),
]
print("expected:", expected)

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    import onnxoptimizer
    
    model = onnxoptimizer.optimize(model, ['fuse_qkv'])
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([0.0], dtype=np.dtype('float64')).reshape((1, 1, 1)), np.array([0.0], dtype=np.dtype('float64')).reshape((1, 1, 1)), np.array([0.0], dtype=np.dtype('float64')).reshape((1, 1, 1))]

import onnx.checker
import onnx.printer
import onnx.reference


def invalid(why):
    print("the model that it made is invalid: ", why, flush=True)
    os._exit(104)


def unseen(why):
    print(why, flush=True)
    os._exit(2)


def by_onnx_reference(item):
    return onnx.reference.ReferenceEvaluator(item).run(names, inputs)


def by_onnxruntime(item):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(item.SerializeToString(), options).run(names, inputs)


def check_all(expected, outputs):
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
except Exception as error:
    invalid(error)
judges = []
for evaluate in (by_onnx_reference, by_onnxruntime):
    try:
        check_all(list(expected), evaluate(onnx.load_from_string(original)))
    except Exception as error:  # Who is wrong on the first model is no judge of the other.
        print(f"{evaluate.__name__}, of the first model: ", " ".join(str(error).split())[:200], flush=True)
        continue
    try:
        outputs = evaluate(model)
    except Exception as error:
        invalid(error)
    print("got:     ", outputs, flush=True)
    check_all(list(expected), outputs)
    judges.append(evaluate)
if not judges:
    unseen("what it made cannot be judged: onnx.reference and onnxruntime are wrong on the first model, or not there")
print("as expected")
