"""RNN with sequence_lens is named "": -0.09939574 expected, 0.7189416 came

The text: «Ht = f(Xt*(Wi^T) + Ht-1*Ri + Wbi + Rbi)»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and emx-onnx-cgen 1.4.0
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
RNN_1_not_symmetric (float[2,4,5] X, float[1,3,5] W, float[1,3,3] R, float[1,6] B, float[1,4,3] initial_h) => (float[2,1,4,3] Y, float[1,4,3] Y_h) {
   [RNN] Y, Y_h = RNN <hidden_size: int = 3> (X, W, R, B, "", initial_h)
}
""")
inputs = {
    'X': np.array([0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.49411335587501526, 0.79848712682724, -0.6998746991157532, -0.6181371212005615, 0.8591617941856384, 0.396740585565567, -0.9613974690437317, -0.14899902045726776, 0.9997928738594055, -0.10863659530878067, -0.9717984199523926, 0.35905835032463074, 0.8792730569839478, -0.5856373310089111, -0.7283607721328735, 0.7733278870582581, 0.529082715511322, -0.9096666574478149, -0.29467159509658813, 0.9856002926826477, 0.0406932570040226, -0.9960864782333374, 0.21598726511001587, 0.9404289722442627, -0.45832544565200806, -0.8223235607147217, 0.6702291965484619, 0.6496128439903259, -0.8376272320747375, -0.4337655305862427, 0.9494038820266724, 0.18911461532115936, -0.9981366395950317, 0.06809419393539429, 0.9805895090103149, -0.32078132033348083, -0.8979277014732361], dtype=np.dtype('float32')).reshape((2, 4, 5)),
    'W': np.array([-0.14899902045726776, 0.9997928738594055, -0.10863659530878067, -0.9717984199523926, 0.35905835032463074, -0.6998746991157532, -0.6181371212005615, 0.8591617941856384, 0.396740585565567, -0.9613974690437317, 0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.49411335587501526, 0.79848712682724], dtype=np.dtype('float32')).reshape((1, 3, 5)),
    'R': np.array([-0.6181371212005615, 0.8591617941856384, 0.396740585565567, 0.49411335587501526, 0.79848712682724, -0.6998746991157532, 0.9916648268699646, -0.2555411159992218, -0.925814688205719], dtype=np.dtype('float32')).reshape((1, 3, 3)),
    'B': np.array([0.7437486052513123, -0.19165582954883575, -0.6943610310554504, 0.37058502435684204, 0.5988653302192688, -0.5249060392379761], dtype=np.dtype('float32')).reshape((1, 6)),
    'initial_h': np.array([-1.44209623336792, -0.22349853813648224, 1.4996893405914307, -0.9272056818008423, 1.2887427806854248, 0.5951108336448669, 0.7411700487136841, 1.1977306604385376, -1.0498120784759521, 1.4874972105026245, -0.3833116590976715, -1.3887220621109009], dtype=np.dtype('float32')).reshape((1, 4, 3)),
}
expected = [
    np.array([0.993796706199646, -0.9972645044326782, -0.23157747089862823, 0.9180684685707092, 0.9965425729751587, -0.9998982548713684, 0.9806346893310547, 0.7309771776199341, -0.8585197925567627, -0.9883676171302795, 0.5736939311027527, 0.9978848099708557, -0.7092733979225159, 0.9964300990104675, -0.984531044960022, 0.967092752456665, 0.14923781156539917, -0.0993957370519638, -0.9383261203765869, 0.9593827128410339, 0.869975745677948, 0.9959324598312378, 0.9637503623962402, -0.99997878074646], dtype=np.dtype('float32')).reshape((2, 1, 4, 3)),
    np.array([-0.7092733979225159, 0.9964300990104675, -0.984531044960022, 0.967092752456665, 0.14923781156539917, -0.0993957370519638, -0.9383261203765869, 0.9593827128410339, 0.869975745677948, 0.9959324598312378, 0.9637503623962402, -0.99997878074646], dtype=np.dtype('float32')).reshape((1, 4, 3)),
]
print("expected:", expected)

try:
    from emx_onnx_cgen import onnx_backend
    
    outputs = onnx_backend.run_model(model, list(inputs.values()))
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([1.0879620474647448e-06, 9.93561686784094e-07, 1.5392668111678949e-06, 1.3032492922668888e-06, 1.5477101445510491e-06, 1.2651760432067065e-06, 1.4500551331671125e-06, 1.412345450841412e-06, 1.5361817809752703e-06, 1.3772683394036607e-06, 1.3267875201444365e-06, 1.1326368664126682e-06, 1.4413313560491022e-06, 1.247673505352878e-06, 1.0005719511464376e-06, 1.4412083751569083e-06, 2.1713211601793367e-06, 2.0185862235454144e-06, 1.3882069851228091e-06, 1.4552485554934061e-06, 1.0638557993717496e-06, 1.3989033636385744e-06, 1.1366984251218156e-06, 1.4723190829865533e-06], dtype=np.dtype('float64')).reshape((2, 1, 4, 3)), np.array([1.4413313560491022e-06, 1.247673505352878e-06, 1.0005719511464376e-06, 1.4412083751569083e-06, 2.1713211601793367e-06, 2.0185862235454144e-06, 1.3882069851228091e-06, 1.4552485554934061e-06, 1.0638557993717496e-06, 1.3989033636385744e-06, 1.1366984251218156e-06, 1.4723190829865533e-06], dtype=np.dtype('float64')).reshape((1, 4, 3))]


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
