"""GRU: 0.24054536 expected, 0.16244349 came

The text: «If 0, the following shapes are expected: X.shape = [seq_length, batch_size, input_size], Y.shape = [seq_length, num_directions, batch_size, hidden_size], initial_h.shape = Y_h.shape = [num_directions, batch_size, hidden_size].»
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
   ir_version: 7,
   opset_import: ["" : 14],
   producer_name: "onnx-conformance"
>
GRU_14_layout_0 (float[2,2,1] X, float[2,9,1] W, float[2,9,3] R, int32[2] sequence_lens) => (float[2,2,2,3] Y) {
   [GRU] Y = GRU <direction: string = "bidirectional"> (X, W, R, "", sequence_lens)
}
""")
inputs = {
    'X': np.array([0.9916648268699646, -0.6998746991157532, -0.9096666574478149, 0.21598726511001587], dtype=np.dtype('float32')).reshape((2, 2, 1)),
    'W': np.array([0.5521673560142517, -0.9981366395950317, 0.6496128439903259, 0.21598726511001587, -0.9096666574478149, 0.8792730569839478, -0.14899902045726776, -0.6998746991157532, 0.9916648268699646, 0.9932863116264343, -0.5055995583534241, -0.3845323920249939, 0.968585729598999, -0.7816678881645203, -0.02743898704648018, 0.8147050738334656, -0.9534853100776672, 0.3333139419555664], dtype=np.dtype('float32')).reshape((2, 9, 1)),
    'R': np.array([-0.6181371212005615, 0.8591617941856384, 0.396740585565567, 0.49411335587501526, 0.79848712682724, -0.6998746991157532, 0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.8792730569839478, -0.5856373310089111, -0.7283607721328735, -0.10863659530878067, -0.9717984199523926, 0.35905835032463074, -0.9613974690437317, -0.14899902045726776, 0.9997928738594055, -0.9960864782333374, 0.21598726511001587, 0.9404289722442627, -0.29467159509658813, 0.9856002926826477, 0.0406932570040226, 0.7733278870582581, 0.529082715511322, -0.9096666574478149, 0.9494038820266724, 0.18911461532115936, -0.9981366395950317, 0.6496128439903259, -0.8376272320747375, -0.4337655305862427, -0.45832544565200806, -0.8223235607147217, 0.6702291965484619, -0.7468875646591187, -0.5631754994392395, 0.8920117020606995, -0.8979277014732361, 0.5521673560142517, 0.7556402087211609, 0.06809419393539429, 0.9805895090103149, -0.32078132033348083, 0.42177829146385193, 0.844797670841217, -0.6394733190536499, 0.9988580346107483, -0.17607562243938446, -0.9534853100776672, 0.3333139419555664, -0.9779030084609985, -0.08131910115480423], dtype=np.dtype('float32')).reshape((2, 9, 3)),
    'sequence_lens': np.array([2, 1], dtype=np.dtype('int32')).reshape((2,)),
}
expected = [
    np.array([-0.053751956671476364, -0.43784794211387634, 0.2597845196723938, 0.061867449432611465, 0.1508123129606247, -0.3673959970474243, -0.08547484129667282, -0.5359481573104858, 0.023692650720477104, -0.3438989222049713, 0.2405453622341156, -0.09924409538507462, 0.10429580509662628, -0.1344546675682068, -0.48798903822898865, 0.0, 0.0, 0.0, -0.44822725653648376, 0.27091270685195923, -0.12164921313524246, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((2, 2, 2, 3)),
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
BOUNDS = [np.array([1.8826529330399706e-07, 5.421917859173496e-07, 5.054360566073479e-07, 1.8244178191760526e-07, 2.632125506194893e-07, 6.934937481145367e-07, 8.247242187640843e-07, 1.3400062101043826e-06, 3.230610002191168e-07, 7.541517200327806e-07, 4.877374858887716e-07, 2.0368061885207608e-07, 4.931536218774247e-07, 6.058787730642573e-07, 9.186632338529651e-07, np.inf, np.inf, np.inf, 9.034735856278233e-07, 7.196090699494251e-07, 2.452590656214732e-07, np.inf, np.inf, np.inf], dtype=np.dtype('float64')).reshape((2, 2, 2, 3))]


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
    differs &= np.isfinite(bound)  # Elements without a bound may be anything.
    count = int(differs.sum())
    assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got, BOUNDS[index])
print("as expected")
