"""LSTM: refused ('NoneType' object has no attribute 'output'), float[1,4,3] -0.00603682 0.741884 -0.0418584 -7.76931e-05 0.937806 -0.... expected

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
LSTM_1_signature_b_omitted (float[2,4,5] X, float[1,12,5] W, float[1,12,3] R, int32[4] sequence_lens, float[1,4,3] initial_h, float[1,4,3] initial_c, float[1,9] P) => (float[1,4,3] Y_h) {
   [LSTM] "", Y_h = LSTM (X, W, R, "", sequence_lens, initial_h, initial_c, P)
}
""")
inputs = {
    'X': np.array([1.9833296537399292, -0.5110822319984436, -1.851629376411438, 0.9882267117500305, 1.59697425365448, -1.3997493982315063, -1.236274242401123, 1.7183235883712769, 0.793481171131134, -1.9227949380874634, -0.2979980409145355, 1.999585747718811, -0.21727319061756134, -1.9435968399047852, 0.7181167006492615, 1.7585461139678955, -1.1712746620178223, -1.456721544265747, 1.5466557741165161, 1.058165431022644, -1.8193333148956299, -0.5893431901931763, 1.9712005853652954, 0.0813865140080452, -1.9921729564666748, 0.0, 0.0, 0.0, 0.0, 0.0, 1.2992256879806519, -1.675254464149475, -0.8675310611724854, 1.8988077640533447, 0.3782292306423187, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((2, 4, 5)),
    'W': np.array([0.8147050738334656, 0.4700719118118286, -0.93583744764328, -0.2289169281721115, 0.9948267936706543, -0.9534853100776672, 0.42177829146385193, 0.844797670841217, -0.6394733190536499, -0.6800124645233154, 0.3333139419555664, -0.9779030084609985, -0.08131910115480423, 0.9988580346107483, -0.17607562243938446, 0.5521673560142517, 0.7556402087211609, -0.7468875646591187, -0.5631754994392395, 0.8920117020606995, -0.9981366395950317, 0.06809419393539429, 0.9805895090103149, -0.32078132033348083, -0.8979277014732361, 0.6496128439903259, -0.8376272320747375, -0.4337655305862427, 0.9494038820266724, 0.18911461532115936, 0.21598726511001587, 0.9404289722442627, -0.45832544565200806, -0.8223235607147217, 0.6702291965484619, -0.9096666574478149, -0.29467159509658813, 0.9856002926826477, 0.0406932570040226, -0.9960864782333374, 0.8792730569839478, -0.5856373310089111, -0.7283607721328735, 0.7733278870582581, 0.529082715511322, -0.14899902045726776, 0.9997928738594055, -0.10863659530878067, -0.9717984199523926, 0.35905835032463074, -0.6998746991157532, -0.6181371212005615, 0.8591617941856384, 0.396740585565567, -0.9613974690437317, 0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.49411335587501526, 0.79848712682724], dtype=np.dtype('float32')).reshape((1, 12, 5)),
    'R': np.array([-1.236274242401123, 1.353275179862976, 1.388405442237854, 1.353275179862976, 1.59697425365448, -0.9554157853126526, 1.388405442237854, -0.9554157853126526, -1.851629376411438, 1.7585461139678955, -0.6942739486694336, -1.68975830078125, -0.6942739486694336, -1.9435968399047852, 0.21005932986736298, -1.68975830078125, 0.21005932986736298, 1.999585747718811, -1.9921729564666748, -0.07868433743715286, 1.713756799697876, -0.07868433743715286, 1.9712005853652954, 0.5697759389877319, 1.713756799697876, 0.5697759389877319, -1.8193333148956299, 1.8988077640533447, 0.8387274742126465, -1.456462025642395, 0.8387274742126465, -1.675254464149475, -1.2560890913009644, -1.456462025642395, -1.2560890913009644, 1.3404583930969238], dtype=np.dtype('float32')).reshape((1, 12, 3)),
    'sequence_lens': np.array([2, 1, 2, 1], dtype=np.dtype('int32')).reshape((4,)),
    'initial_h': np.array([-1.44209623336792, -0.22349853813648224, 1.4996893405914307, -0.9272056818008423, 1.2887427806854248, 0.5951108336448669, 0.7411700487136841, 1.1977306604385376, -1.0498120784759521, 1.4874972105026245, -0.3833116590976715, -1.3887220621109009], dtype=np.dtype('float32')).reshape((1, 4, 3)),
    'initial_c': np.array([-0.9613974690437317, -0.14899902045726776, 0.9997928738594055, -0.6181371212005615, 0.8591617941856384, 0.396740585565567, 0.49411335587501526, 0.79848712682724, -0.6998746991157532, 0.9916648268699646, -0.2555411159992218, -0.925814688205719], dtype=np.dtype('float32')).reshape((1, 4, 3)),
    'P': np.array([0.5951108336448669, 1.2887427806854248, -0.9272056818008423, -1.0498120784759521, 1.1977306604385376, 0.7411700487136841, -1.3887220621109009, -0.3833116590976715, 1.4874972105026245], dtype=np.dtype('float32')).reshape((1, 9)),
}
expected = [
    np.array([-0.0060368194244802, 0.7418844699859619, -0.04185837507247925, -7.769314106553793e-05, 0.9378060102462769, -0.07791709154844284, -0.45149606466293335, -0.0017041342798620462, 0.37149813771247864, 0.3017590641975403, 0.0002929340407717973, -0.008021418936550617], dtype=np.dtype('float32')).reshape((1, 4, 3)),
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
BOUNDS = [np.array([2.7495521390098494e-07, 8.586151464368462e-07, 3.119754464402312e-07, 1.063312226229385e-07, 1.4571101499980344e-06, 6.742770753049595e-07, 1.0275515636702223e-06, 3.0707816870658126e-08, 2.4290117229119643e-06, 1.2583626907536104e-06, 1.4861929016979894e-08, 3.629245956852375e-07], dtype=np.dtype('float64')).reshape((1, 4, 3))]

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
