"""BatchNormalization with training_mode=1: refused (...shape=(3,), dim_params=(None,)], running_var: tensor[dtype=float16, shape=(3,), dim_params=(None,)]])), float[2,3,1,4] 0.226442 2.33283 -0.31635 -1.74007 0.677729 0.462128 1.... expected

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
   ir_version: 7,
   opset_import: ["" : 14],
   producer_name: "onnx-conformance"
>
BatchNormalization_14_types_of_statistics_before_15 (float[2,3,1,4] X, float[3] scale, float[3] B, float16[3] input_mean, float16[3] input_var) => (float[2,3,1,4] Y, float16[3] running_mean, float16[3] running_var) {
   [BatchNormalization] Y, running_mean, running_var = BatchNormalization <training_mode: int = 1> (X, scale, B, input_mean, input_var)
}
""")
inputs = {
    'X': np.array([0.0, 1.9833296537399292, -0.5110822319984436, -1.851629376411438, 0.9882267117500305, 1.59697425365448, -1.3997493982315063, -1.236274242401123, 1.7183235883712769, 0.793481171131134, -1.9227949380874634, -0.2979980409145355, 1.999585747718811, -0.21727319061756134, -1.9435968399047852, 0.7181167006492615, 1.7585461139678955, -1.1712746620178223, -1.456721544265747, 1.5466557741165161, 1.058165431022644, -1.8193333148956299, -0.5893431901931763, 1.9712005853652954], dtype=np.dtype('float32')).reshape((2, 3, 1, 4)),
    'scale': np.array([1.5, -0.5, 2.0], dtype=np.dtype('float32')).reshape((3,)),
    'B': np.array([0.25, 1.0, -3.0], dtype=np.dtype('float32')).reshape((3,)),
    'input_mean': np.array([0.0999755859375, -0.7001953125, 0.39990234375], dtype=np.dtype('float16')).reshape((3,)),
    'input_var': np.array([0.5, 2.0, 1.25], dtype=np.dtype('float16')).reshape((3,)),
}
expected = [
    np.array([0.22644244134426117, 2.3328287601470947, -0.31635013222694397, -1.7400721311569214, 0.6777288913726807, 0.462127685546875, 1.5234825611114502, 1.4655842781066895, -0.7258984446525574, -2.036816358566284, -5.887001991271973, -3.5839338302612305, 2.350093364715576, -0.004311561584472656, -1.8377457857131958, 0.9891149997711182, 0.40490350127220154, 1.4425632953643799, 1.5436605215072632, 0.47994908690452576, -1.66163969039917, -5.740350723266602, -3.996901035308838, -0.36745795607566833], dtype=np.dtype('float32')).reshape((2, 3, 1, 4)),
    np.array([0.09222412109375, -0.62255859375, 0.371337890625], dtype=np.dtype('float16')).reshape((3,)),
    np.array([0.6494140625, 1.9990234375, 1.32421875], dtype=np.dtype('float16')).reshape((3,)),
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
BOUNDS = [np.array([6.647279475045411e-07, 2.5385481630412876e-06, 1.1527167089967844e-06, 2.4326906540234097e-06, 7.908121290719421e-07, 9.851410740549841e-07, 9.45724903105661e-07, 8.935391407384379e-07, 3.7755475462992415e-06, 2.5955689496109535e-06, 4.173176342699931e-06, 2.100146898018035e-06, 2.5540697184208147e-06, 8.721835555391689e-07, 2.520502528116967e-06, 1.330504401495418e-06, 1.0367192521868012e-06, 8.72789488360852e-07, 9.639119778289813e-07, 9.690780325334166e-07, 2.9332716281756686e-06, 4.041172772503289e-06, 2.4718654026943668e-06, 4.0981856936045804e-06], dtype=np.dtype('float64')).reshape((2, 3, 1, 4)), np.array([0.0056850831424526405, 0.006966989967622794, 0.006450138047512155], dtype=np.dtype('float64')).reshape((3,)), np.array([0.018734030374681125, 0.02166027288709658, 0.020191239519316367], dtype=np.dtype('float64')).reshape((3,))]


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
