"""LSTM with direction=reverse: -0.048475213 expected, -0.007417672 came

The text: «Number of neurons in the hidden layer»
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
   ir_version: 3,
   opset_import: ["" : 1],
   producer_name: "onnx-conformance"
>
LSTM_1_one_neuron_reverse (float[3,2,5] X, float[1,4,5] W, float[1,4,1] R, float[1,2,1] initial_c) => (float[3,1,2,1] Y) {
   [LSTM] Y = LSTM <direction: string = "reverse"> (X, W, R, "", "", "", initial_c)
}
""")
inputs = {
    'X': np.array([1.4874972105026245, -0.3833116590976715, -1.3887220621109009, 0.7411700487136841, 1.1977306604385376, -1.0498120784759521, -0.9272056818008423, 1.2887427806854248, 0.5951108336448669, -1.44209623336792, -0.22349853813648224, 1.4996893405914307, -0.1629548966884613, -1.4576976299285889, 0.5385875105857849, 1.3189096450805664, -0.8784559965133667, -1.0925410985946655, 1.1599918603897095, 0.7936240434646606, -1.3645000457763672, -0.4420073926448822, 1.478400468826294, 0.06103988736867905, -1.4941297769546509, 0.3239808976650238, 1.410643458366394, -0.6874881982803345, -1.2334853410720825, 1.0053437948226929], dtype=np.dtype('float32')).reshape((3, 2, 5)),
    'W': np.array([1.3189096450805664, -0.8784559965133667, -1.0925410985946655, 1.1599918603897095, 0.7936240434646606, -0.22349853813648224, 1.4996893405914307, -0.1629548966884613, -1.4576976299285889, 0.5385875105857849, -1.0498120784759521, -0.9272056818008423, 1.2887427806854248, 0.5951108336448669, -1.44209623336792, 1.4874972105026245, -0.3833116590976715, -1.3887220621109009, 0.7411700487136841, 1.1977306604385376], dtype=np.dtype('float32')).reshape((1, 4, 5)),
    'R': np.array([1.4874972105026245, -0.3833116590976715, -1.3887220621109009, 0.7411700487136841], dtype=np.dtype('float32')).reshape((1, 4, 1)),
    'initial_c': np.array([-0.2555411159992218, 0.9916648268699646], dtype=np.dtype('float32')).reshape((1, 2, 1)),
}
expected = [
    np.array([0.19070802628993988, 0.03367790952324867, -0.06122021749615669, 0.04386892914772034, -0.04847521334886551, 0.27455130219459534], dtype=np.dtype('float32')).reshape((3, 1, 2, 1)),
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
BOUNDS = [np.array([4.129280794523748e-07, 2.3340689594178847e-07, 5.060883688882016e-07, 1.8894454308504003e-07, 1.7053058433654698e-07, 9.398720051711728e-07], dtype=np.dtype('float64')).reshape((3, 1, 2, 1))]


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
