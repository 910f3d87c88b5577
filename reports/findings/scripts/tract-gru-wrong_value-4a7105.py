"""GRU: nan expected, -0.999999 came

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
GRU_22_nan (float[1,4,4] X, float[1,9,4] W, float[1,9,3] R) => (float[1,1,4,3] Y) {
   [GRU] Y = GRU (X, W, R)
}
""")
inputs = {
    'X': np.array([-0.9096666574478149, -0.29467159509658813, 0.9856002926826477, 0.0406932570040226, 0.21598726511001587, 0.9404289722442627, -0.45832544565200806, -0.8223235607147217, 0.6496128439903259, -0.8376272320747375, -0.4337655305862427, np.nan, -0.9981366395950317, 0.06809419393539429, 0.9805895090103149, -0.32078132033348083], dtype=np.dtype('float32')).reshape((1, 4, 4)),
    'W': np.array([0.5521673560142517, 0.7556402087211609, -0.7468875646591187, -0.5631754994392395, -0.9981366395950317, 0.06809419393539429, 0.9805895090103149, -0.32078132033348083, 0.6496128439903259, -0.8376272320747375, -0.4337655305862427, 0.9494038820266724, 0.21598726511001587, 0.9404289722442627, -0.45832544565200806, -0.8223235607147217, -0.9096666574478149, -0.29467159509658813, 0.9856002926826477, 0.0406932570040226, 0.8792730569839478, -0.5856373310089111, -0.7283607721328735, 0.7733278870582581, -0.14899902045726776, 0.9997928738594055, -0.10863659530878067, -0.9717984199523926, -0.6998746991157532, -0.6181371212005615, 0.8591617941856384, 0.396740585565567, 0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.49411335587501526], dtype=np.dtype('float32')).reshape((1, 9, 4)),
    'R': np.array([-0.6181371212005615, 0.8591617941856384, 0.396740585565567, 0.49411335587501526, 0.79848712682724, -0.6998746991157532, 0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.8792730569839478, -0.5856373310089111, -0.7283607721328735, -0.10863659530878067, -0.9717984199523926, 0.35905835032463074, -0.9613974690437317, -0.14899902045726776, 0.9997928738594055, -0.9960864782333374, 0.21598726511001587, 0.9404289722442627, -0.29467159509658813, 0.9856002926826477, 0.0406932570040226, 0.7733278870582581, 0.529082715511322, -0.9096666574478149], dtype=np.dtype('float32')).reshape((1, 9, 3)),
}
expected = [
    np.array([-0.2417081594467163, 0.12773488461971283, -0.6334218382835388, 0.153670072555542, -0.5229319334030151, -0.006288446951657534, np.nan, np.nan, np.nan, 0.29539692401885986, 0.09890380501747131, -0.7825889587402344], dtype=np.dtype('float32')).reshape((1, 1, 4, 3)),
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
BOUNDS = [np.array([3.183744805055188e-07, 5.248616900492328e-07, 1.2070232851281194e-06, 5.32326896949102e-07, 1.1280707597343354e-06, 2.3658839401950704e-07, 0.0, 0.0, 0.0, 7.113301626093113e-07, 4.682940728116325e-07, 1.5120693542584534e-06], dtype=np.dtype('float64')).reshape((1, 1, 4, 3))]


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
