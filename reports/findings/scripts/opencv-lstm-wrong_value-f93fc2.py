"""LSTM with P has a dimension of size 1: 0.81629187 expected, 0.6921528 came

Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and opencv-python-headless 5.0.0.93
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
   ir_version: 3,
   opset_import: ["" : 1],
   producer_name: "onnx-conformance"
>
LSTM_1_signature_sequence_lens_omitted (float[2,4,1] X, float[1,12,1] W, float[1,12,3] R, float[1,24] B, float[1,4,3] initial_h, float[1,4,3] initial_c, float[1,9] P) => (float[1,4,3] Y_h) {
   [LSTM] "", Y_h = LSTM <hidden_size: int = 3> (X, W, R, B, "", initial_h, initial_c, P)
}
""")
inputs = {
    'X': np.array([1.9833296537399292, -1.3997493982315063, -0.2979980409145355, 1.7585461139678955, -1.8193333148956299, 0.43197453022003174, 1.2992256879806519, -1.9962732791900635], dtype=np.dtype('float32')).reshape((2, 4, 1)),
    'W': np.array([0.8147050738334656, -0.9534853100776672, 0.3333139419555664, 0.5521673560142517, -0.9981366395950317, 0.6496128439903259, 0.21598726511001587, -0.9096666574478149, 0.8792730569839478, -0.14899902045726776, -0.6998746991157532, 0.9916648268699646], dtype=np.dtype('float32')).reshape((1, 12, 1)),
    'R': np.array([-1.236274242401123, 1.353275179862976, 1.388405442237854, 1.353275179862976, 1.59697425365448, -0.9554157853126526, 1.388405442237854, -0.9554157853126526, -1.851629376411438, 1.7585461139678955, -0.6942739486694336, -1.68975830078125, -0.6942739486694336, -1.9435968399047852, 0.21005932986736298, -1.68975830078125, 0.21005932986736298, 1.999585747718811, -1.9921729564666748, -0.07868433743715286, 1.713756799697876, -0.07868433743715286, 1.9712005853652954, 0.5697759389877319, 1.713756799697876, 0.5697759389877319, -1.8193333148956299, 1.8988077640533447, 0.8387274742126465, -1.456462025642395, 0.8387274742126465, -1.675254464149475, -1.2560890913009644, -1.456462025642395, -1.2560890913009644, 1.3404583930969238], dtype=np.dtype('float32')).reshape((1, 12, 3)),
    'B': np.array([0.7437486052513123, -0.19165582954883575, -0.6943610310554504, 0.37058502435684204, 0.5988653302192688, -0.5249060392379761, -0.46360284090042114, 0.6443713903427124, 0.29755541682243347, -0.72104811668396, -0.11174926906824112, 0.7498446702957153, -0.08147744834423065, -0.7288488149642944, 0.26929375529289246, 0.6594548225402832, -0.43922799825668335, -0.5462705492973328, 0.5799959301948547, 0.3968120217323303, -0.6822500228881836, -0.2210036963224411, 0.739200234413147, 0.030519943684339523], dtype=np.dtype('float32')).reshape((1, 24)),
    'initial_h': np.array([-1.44209623336792, -0.22349853813648224, 1.4996893405914307, -0.9272056818008423, 1.2887427806854248, 0.5951108336448669, 0.7411700487136841, 1.1977306604385376, -1.0498120784759521, 1.4874972105026245, -0.3833116590976715, -1.3887220621109009], dtype=np.dtype('float32')).reshape((1, 4, 3)),
    'initial_c': np.array([-0.9613974690437317, -0.14899902045726776, 0.9997928738594055, -0.6181371212005615, 0.8591617941856384, 0.396740585565567, 0.49411335587501526, 0.79848712682724, -0.6998746991157532, 0.9916648268699646, -0.2555411159992218, -0.925814688205719], dtype=np.dtype('float32')).reshape((1, 4, 3)),
    'P': np.array([0.5951108336448669, 1.2887427806854248, -0.9272056818008423, -1.0498120784759521, 1.1977306604385376, 0.7411700487136841, -1.3887220621109009, -0.3833116590976715, 1.4874972105026245], dtype=np.dtype('float32')).reshape((1, 9)),
}
expected = [
    np.array([-0.7903730869293213, 0.3862256109714508, -0.009560178965330124, -0.9126383066177368, 0.022402917966246605, 0.14074215292930603, 0.0203310064971447, 0.07531515508890152, 0.049438562244176865, -0.0124669149518013, 0.816291868686676, -0.02373880334198475], dtype=np.dtype('float32')).reshape((1, 4, 3)),
]
print("expected:", expected)

try:
    import cv2
    import numpy
    
    net = cv2.dnn.readNetFromONNX(numpy.frombuffer(model.SerializeToString(), numpy.uint8))
    for name, value in inputs.items():
        net.setInput(value, name)
    outputs = list(net.forward([value.name for value in model.graph.output]))
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([1.1492839813463289e-06, 1.020045097966433e-06, 6.879614570120564e-08, 2.1314343809374828e-06, 4.556662766893323e-07, 4.5817841658553293e-07, 1.2720290388790728e-06, 3.189362831027757e-07, 7.275903848307196e-07, 3.7662067091949946e-07, 1.5051170007713506e-06, 1.5974374716808542e-07], dtype=np.dtype('float64')).reshape((1, 4, 3))]


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
