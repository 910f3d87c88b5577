"""LSTM: refused (...Setting body inputs 1: Clashing resolution for expression. 1=1 != 2. (TurnState(SymbolValues { values: {} }))), float[2,1,2,3] -0.761594 -0 0.761594 2.84183e-42 0.761594 -1.32975e-30... expected

The text: «The input sequences packed (and potentially padded) into one 3-D tensor with the shape of `[seq_length, batch_size, input_size]`.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and tract 0.23.9
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
   ir_version: 10,
   opset_import: ["" : 22],
   producer_name: "onnx-conformance"
>
LSTM_22_large (float[2,2,1] X, float[1,12,1] W, float[1,12,3] R) => (float[2,1,2,3] Y, float[1,2,3] Y_h, float[1,2,3] Y_c) {
   [LSTM] Y, Y_h, Y_c = LSTM (X, W, R)
}
""")
inputs = {
    'X': np.array([99.1664810180664, -69.98747253417969, -90.96666717529297, 21.598726272583008], dtype=np.dtype('float32')).reshape((2, 2, 1)),
    'W': np.array([0.8147050738334656, -0.9534853100776672, 0.3333139419555664, 0.5521673560142517, -0.9981366395950317, 0.6496128439903259, 0.21598726511001587, -0.9096666574478149, 0.8792730569839478, -0.14899902045726776, -0.6998746991157532, 0.9916648268699646], dtype=np.dtype('float32')).reshape((1, 12, 1)),
    'R': np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((1, 12, 3)),
}
expected = [
    np.array([-0.7615941762924194, -0.0, 0.7615941762924194, 2.841833285650729e-42, 0.7615941762924194, -1.3297505248196775e-30, -4.498176775511946e-31, 0.7615941762924194, -1.472917427537994e-39, -0.760242223739624, 7.781645777901261e-19, 0.7612797617912292], dtype=np.dtype('float32')).reshape((2, 1, 2, 3)),
    np.array([-4.498176775511946e-31, 0.7615941762924194, -1.472917427537994e-39, -0.760242223739624, 7.781645777901261e-19, 0.7612797617912292], dtype=np.dtype('float32')).reshape((1, 2, 3)),
    np.array([-2.931822340457302e-09, 1.0, -6.791914714020589e-14, -0.9968007206916809, 1.7939089103080619e-09, 0.9992533326148987], dtype=np.dtype('float32')).reshape((1, 2, 3)),
]
print("expected:", expected)

try:
    import pathlib
    import tempfile
    
    import tract
    
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        loaded = tract.onnx().load(path)
        names = [loaded.input_name(place) for place in range(loaded.input_count())]
        runnable = loaded.into_model().into_runnable()
    facts = [fact.dump() for fact in runnable.output_facts()]
    answers = runnable.run([inputs[name] for name in names])
    outputs = [
        (answer.convert_to(tract.DatumType.I64) if fact.endswith("tdim") else answer).to_numpy()
        for fact, answer in zip(facts, answers)
    ]
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([1.234852182953359e-06, 1.846949916236633e-14, 1.5604528881137505e-06, 9.78249002406171e-15, 1.3143501604198521e-06, 2.784736474964024e-14, 3.7891382137219395e-14, 1.5072010327381268e-06, 1.9866231034361612e-14, 1.671020503554545e-06, 2.6252752029888768e-14, 1.4313994373241279e-06], dtype=np.dtype('float64')).reshape((2, 1, 2, 3)), np.array([3.7891382137219395e-14, 1.5072010327381268e-06, 1.9866231034361612e-14, 1.671020503554545e-06, 2.6252752029888768e-14, 1.4313994373241279e-06], dtype=np.dtype('float64')).reshape((1, 2, 3)), np.array([4.020161941567404e-07, 1.6747357955093105e-06, 4.1779855138639815e-07, 1.3393748802678881e-06, 4.748487970039067e-07, 2.103652544442848e-06], dtype=np.dtype('float64')).reshape((1, 2, 3))]


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
