"""RNN: refused ('NoneType' object has no attribute 'output'), float[1,4,3] -0.999781 0.99724 0.917357 0.982972 0.994274 -0.999968 -0... expected

Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxconverter_common.float16 1.16.0
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
   ir_version: 4,
   opset_import: ["" : 1]
>
RNN_1_signature_b_omitted (float[2,4,5] X, float[1,3,5] W, float[1,3,3] R, int32[4] sequence_lens, float[1,4,3] initial_h) => (float[1,4,3] Y_h) {
   [RNN] "", Y_h = RNN (X, W, R, "", sequence_lens, initial_h)
}
""")
inputs = {
    'X': np.array([0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.49411335587501526, 0.79848712682724, -0.6998746991157532, -0.6181371212005615, 0.8591617941856384, 0.396740585565567, -0.9613974690437317, -0.14899902045726776, 0.9997928738594055, -0.10863659530878067, -0.9717984199523926, 0.35905835032463074, 0.8792730569839478, -0.5856373310089111, -0.7283607721328735, 0.7733278870582581, 0.529082715511322, -0.9096666574478149, -0.29467159509658813, 0.9856002926826477, 0.0406932570040226, -0.9960864782333374, 0.0, 0.0, 0.0, 0.0, 0.0, 0.6496128439903259, -0.8376272320747375, -0.4337655305862427, 0.9494038820266724, 0.18911461532115936, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((2, 4, 5)),
    'W': np.array([-0.14899902045726776, 0.9997928738594055, -0.10863659530878067, -0.9717984199523926, 0.35905835032463074, -0.6998746991157532, -0.6181371212005615, 0.8591617941856384, 0.396740585565567, -0.9613974690437317, 0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.49411335587501526, 0.79848712682724], dtype=np.dtype('float32')).reshape((1, 3, 5)),
    'R': np.array([-1.236274242401123, 1.353275179862976, 1.388405442237854, 1.353275179862976, 1.59697425365448, -0.9554157853126526, 1.388405442237854, -0.9554157853126526, -1.851629376411438], dtype=np.dtype('float32')).reshape((1, 3, 3)),
    'sequence_lens': np.array([2, 1, 2, 1], dtype=np.dtype('int32')).reshape((4,)),
    'initial_h': np.array([-1.44209623336792, -0.22349853813648224, 1.4996893405914307, -0.9272056818008423, 1.2887427806854248, 0.5951108336448669, 0.7411700487136841, 1.1977306604385376, -1.0498120784759521, 1.4874972105026245, -0.3833116590976715, -1.3887220621109009], dtype=np.dtype('float32')).reshape((1, 4, 3)),
}
expected = [
    np.array([-0.9997805953025818, 0.997240424156189, 0.9173567295074463, 0.9829719662666321, 0.9942740201950073, -0.9999681711196899, -0.2710599899291992, 0.9485475420951843, 0.49269598722457886, -0.9999655485153198, 0.9283973574638367, 0.9999994039535522], dtype=np.dtype('float32')).reshape((1, 4, 3)),
]
print("expected:", expected)

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    from onnxconverter_common import float16
    
    model = float16.convert_float_to_float16(model, keep_io_types=True)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([1.2372595303069742e-06, 1.2500457171362518e-06, 1.0751607261805884e-06, 1.357033343532532e-06, 1.5381531678926042e-06, 1.2651610133166757e-06, 3.0575182265395843e-06, 1.5620649838262158e-06, 3.092167390265591e-06, 1.3998356930228463e-06, 1.4712106070780118e-06, 1.1337116851331025e-06], dtype=np.dtype('float64')).reshape((1, 4, 3))]

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
