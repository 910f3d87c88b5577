"""LSTM: 0.40949535 expected, -0.04519322 came

Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnx.reference 1.23.2
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
LSTM_1_signature_b_omitted (float[2,4,1] X, float[1,12,1] W, float[1,12,3] R, int32[4] sequence_lens) => (float[1,4,3] Y_h) {
   [LSTM] "", Y_h = LSTM (X, W, R, "", sequence_lens)
}
""")
inputs = {
    'X': np.array([1.9833296537399292, -1.3997493982315063, -0.2979980409145355, 1.7585461139678955, -1.8193333148956299, 0.43197453022003174, 1.2992256879806519, -1.9962732791900635], dtype=np.dtype('float32')).reshape((2, 4, 1)),
    'W': np.array([0.8147050738334656, -0.9534853100776672, 0.3333139419555664, 0.5521673560142517, -0.9981366395950317, 0.6496128439903259, 0.21598726511001587, -0.9096666574478149, 0.8792730569839478, -0.14899902045726776, -0.6998746991157532, 0.9916648268699646], dtype=np.dtype('float32')).reshape((1, 12, 1)),
    'R': np.array([-1.236274242401123, 1.353275179862976, 1.388405442237854, 1.353275179862976, 1.59697425365448, -0.9554157853126526, 1.388405442237854, -0.9554157853126526, -1.851629376411438, 1.7585461139678955, -0.6942739486694336, -1.68975830078125, -0.6942739486694336, -1.9435968399047852, 0.21005932986736298, -1.68975830078125, 0.21005932986736298, 1.999585747718811, -1.9921729564666748, -0.07868433743715286, 1.713756799697876, -0.07868433743715286, 1.9712005853652954, 0.5697759389877319, 1.713756799697876, 0.5697759389877319, -1.8193333148956299, 1.8988077640533447, 0.8387274742126465, -1.456462025642395, 0.8387274742126465, -1.675254464149475, -1.2560890913009644, -1.456462025642395, -1.2560890913009644, 1.3404583930969238], dtype=np.dtype('float32')).reshape((1, 12, 3)),
    'sequence_lens': np.array([2, 1, 2, 1], dtype=np.dtype('int32')).reshape((4,)),
}
expected = [
    np.array([-0.040283188223838806, 0.2549794614315033, -0.039131760597229004, 0.015717733651399612, 0.4282887578010559, -0.09409450739622116, -0.00865879375487566, -0.030063042417168617, 0.2509230375289917, -0.14791074395179749, -0.0194530226290226, 0.40949535369873047], dtype=np.dtype('float32')).reshape((1, 4, 3)),
]
print("expected:", expected)

try:
    import onnx.reference
    
    outputs = onnx.reference.ReferenceEvaluator(model).run(None, inputs)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([1.5788909476111531e-07, 1.400093109446948e-06, 3.0855703812607705e-07, 1.0924911521367581e-07, 9.572183234499752e-07, 2.665693399467092e-07, 4.1250143695842306e-07, 1.706209175852856e-07, 7.674929600989641e-07, 5.297136504884758e-07, 1.0659403088501384e-07, 1.051470998585536e-06], dtype=np.dtype('float64')).reshape((1, 4, 3))]


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
