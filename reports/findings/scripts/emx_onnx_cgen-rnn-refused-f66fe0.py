"""RNN with form is @unranked: refused (...'Y_1', 'Y_2', 'Y_3')], Y_h: tensor[dtype=float, shape=(-1, -1, -1), dim_params=('Y_h_0', 'Y_h_1', 'Y_h_2')]])), float[2,1,4,3] -0.459078 -0.956505 0.992447 -0.871146 0.990859 -0.9565... expected

The text: «No clip if not specified.»
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
   opset_import: ["" : 5],
   producer_name: "onnx-conformance"
>
RNN_1_plain_before_7 (float[X_size] X_data, int64[X_rank] X_shape, float[W_size] W_data, int64[W_rank] W_shape, float[R_size] R_data, int64[R_rank] R_shape) => (float[Y_0,Y_1,Y_2,Y_3] Y, float[Y_h_0,Y_h_1,Y_h_2] Y_h) {
   [Reshape_X] X = Reshape (X_data, X_shape)
   [Reshape_W] W = Reshape (W_data, W_shape)
   [Reshape_R] R = Reshape (R_data, R_shape)
   [RNN] Y, Y_h = RNN <hidden_size: int = 3> (X, W, R)
}
""")
inputs = {
    'X_data': np.array([0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.49411335587501526, 0.79848712682724, -0.6998746991157532, -0.6181371212005615, 0.8591617941856384, 0.396740585565567, -0.9613974690437317, -0.14899902045726776, 0.9997928738594055, -0.10863659530878067, -0.9717984199523926, 0.35905835032463074, 0.8792730569839478, -0.5856373310089111, -0.7283607721328735, 0.7733278870582581, 0.529082715511322, -0.9096666574478149, -0.29467159509658813, 0.9856002926826477, 0.0406932570040226, -0.9960864782333374, 0.21598726511001587, 0.9404289722442627, -0.45832544565200806, -0.8223235607147217, 0.6702291965484619, 0.6496128439903259, -0.8376272320747375, -0.4337655305862427, 0.9494038820266724, 0.18911461532115936, -0.9981366395950317, 0.06809419393539429, 0.9805895090103149, -0.32078132033348083, -0.8979277014732361], dtype=np.dtype('float32')).reshape((40,)),
    'X_shape': np.array([2, 4, 5], dtype=np.dtype('int64')).reshape((3,)),
    'W_data': np.array([-0.14899902045726776, 0.9997928738594055, -0.10863659530878067, -0.9717984199523926, 0.35905835032463074, -0.6998746991157532, -0.6181371212005615, 0.8591617941856384, 0.396740585565567, -0.9613974690437317, 0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.49411335587501526, 0.79848712682724], dtype=np.dtype('float32')).reshape((15,)),
    'W_shape': np.array([1, 3, 5], dtype=np.dtype('int64')).reshape((3,)),
    'R_data': np.array([-1.236274242401123, 1.353275179862976, 1.388405442237854, 1.353275179862976, 1.59697425365448, -0.9554157853126526, 1.388405442237854, -0.9554157853126526, -1.851629376411438], dtype=np.dtype('float32')).reshape((9,)),
    'R_shape': np.array([1, 3, 3], dtype=np.dtype('int64')).reshape((3,)),
}
expected = [
    np.array([-0.45907846093177795, -0.9565050601959229, 0.9924466609954834, -0.8711463212966919, 0.990858793258667, -0.9565050601959229, 0.9708511829376221, -0.8711463212966919, -0.45907846093177795, -0.8333332538604736, -0.793571412563324, 0.9866276979446411, -0.012290925718843937, -0.42812827229499817, -0.9994235038757324, 0.9958469271659851, -0.6524335741996765, 0.1410021036863327, -0.9998527765274048, 0.24166369438171387, 0.9998913407325745, 0.8907917141914368, -0.8014737367630005, -0.9999120831489563], dtype=np.dtype('float32')).reshape((2, 1, 4, 3)),
    np.array([-0.012290925718843937, -0.42812827229499817, -0.9994235038757324, 0.9958469271659851, -0.6524335741996765, 0.1410021036863327, -0.9998527765274048, 0.24166369438171387, 0.9998913407325745, 0.8907917141914368, -0.8014737367630005, -0.9999120831489563], dtype=np.dtype('float32')).reshape((1, 4, 3)),
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
BOUNDS = [np.array([5.466543918349606e-07, 9.53981977664492e-07, 1.3381387216908508e-06, 1.3188204013432031e-06, 1.5373828607115724e-06, 1.2641898283627656e-06, 1.4425736762248489e-06, 1.5266577423955887e-06, 1.0661202239062253e-06, 1.1455706766406144e-06, 1.3540302121630267e-06, 1.1242380573092431e-06, 1.7992638537106718e-06, 3.3955847128384523e-06, 1.0087881198587586e-06, 1.4925774123022386e-06, 2.0512151004871237e-06, 3.7660378923401916e-06, 1.4224184366446894e-06, 4.255503628882418e-06, 1.3156587143877606e-06, 1.5023572956850347e-06, 1.8407969895226939e-06, 1.4721549155251118e-06], dtype=np.dtype('float64')).reshape((2, 1, 4, 3)), np.array([1.7992638537106718e-06, 3.3955847128384523e-06, 1.0087881198587586e-06, 1.4925774123022386e-06, 2.0512151004871237e-06, 3.7660378923401916e-06, 1.4224184366446894e-06, 4.255503628882418e-06, 1.3156587143877606e-06, 1.5023572956850347e-06, 1.8407969895226939e-06, 1.4721549155251118e-06], dtype=np.dtype('float64')).reshape((1, 4, 3))]


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
