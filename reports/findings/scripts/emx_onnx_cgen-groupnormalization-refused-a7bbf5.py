"""GroupNormalization with form is not plain: refused (...outputs=[Y: tensor[dtype=float, shape=(-1, -1, -1, -1), dim_params=('Y_0', 'Y_1', 'Y_2', 'Y_3')]])), float[2,4,3,2] 0.262849 2.4598 -0.303281 -1.78821 1.35751 2.03183 1.51... expected

The text: «The output tensor of the same shape as `X`.»
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
   ir_version: 10,
   opset_import: ["" : 21],
   producer_name: "onnx-conformance"
>
GroupNormalization_21_plain (float[X_0,X_1,X_2,X_3] X, float[scale_0] scale, float[bias_0] bias) => (float[Y_0,Y_1,Y_2,Y_3] Y) {
   [GroupNormalization] Y = GroupNormalization <num_groups: int = 2> (X, scale, bias)
}
""")
inputs = {
    'X': np.array([0.0, 1.9833296537399292, -0.5110822319984436, -1.851629376411438, 0.9882267117500305, 1.59697425365448, -1.3997493982315063, -1.236274242401123, 1.7183235883712769, 0.793481171131134, -1.9227949380874634, -0.2979980409145355, 1.999585747718811, -0.21727319061756134, -1.9435968399047852, 0.7181167006492615, 1.7585461139678955, -1.1712746620178223, -1.456721544265747, 1.5466557741165161, 1.058165431022644, -1.8193333148956299, -0.5893431901931763, 1.9712005853652954, 0.0813865140080452, -1.9921729564666748, 0.43197453022003174, 1.8808579444885254, -0.9166508913040161, -1.6446471214294434, 1.3404583930969238, 1.2992256879806519, -1.675254464149475, -0.8675310611724854, 1.8988077640533447, 0.3782292306423187, -1.9962732791900635, 0.13618838787078857, 1.9611790180206299, -0.6415626406669617, -1.7958554029464722, 1.1043347120285034, 1.5112804174423218, -1.4937751293182373, -1.126350998878479, 1.784023404121399, 0.6666278839111328, -1.955806016921997], dtype=np.dtype('float32')).reshape((2, 4, 3, 2)),
    'scale': np.array([1.5, -0.5, 2.0, 1.0], dtype=np.dtype('float32')).reshape((4,)),
    'bias': np.array([0.25, 1.0, -3.0, 0.5], dtype=np.dtype('float32')).reshape((4,)),
}
expected = [
    np.array([0.26284873485565186, 2.4597971439361572, -0.30328068137168884, -1.7882142066955566, 1.357514500617981, 2.0318284034729004, 1.5125545263290405, 1.4521936178207397, 0.3612506687641144, 0.7027354836463928, 1.705681562423706, 1.1057486534118652, -0.47819432616233826, -3.508227586746216, -5.867790222167969, -2.2297239303588867, -0.807650625705719, -4.812170028686523, -0.6011613011360168, 1.4513673782348633, 1.1175297498703003, -0.8489726781845093, -0.008388982154428959, 1.741504192352295, 0.3202892243862152, -1.9751052856445312, 0.708384096622467, 2.3122730255126953, -0.7845209240913391, -1.5904000997543335, 0.5119799971580505, 0.527194619178772, 1.624760627746582, 1.326715350151062, 0.3059523105621338, 0.8670369982719421, -5.519984245300293, -2.6033263206481934, -0.10720952600240707, -3.6670892238616943, -5.245863914489746, -1.2791516780853271, 1.638722538948059, -0.41634806990623474, -0.1650773137807846, 1.825243592262268, 1.0610891580581665, -0.7323176264762878], dtype=np.dtype('float32')).reshape((2, 4, 3, 2)),
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
BOUNDS = [np.array([9.90193498321788e-07, 3.7687091108773917e-06, 1.6859399002858217e-06, 3.5639591005204763e-06, 2.3746347293416713e-06, 3.227450369997721e-06, 1.086243413843158e-06, 1.009904066711569e-06, 1.2417594757217377e-06, 8.098781542262108e-07, 1.3304943205321374e-06, 5.717494597515261e-07, 5.090774818233774e-06, 2.3279593447823255e-06, 5.329411335661548e-06, 2.8627639674497544e-06, 4.6716941383733105e-06, 3.986622606922235e-06, 2.122246419904845e-06, 2.032437475522105e-06, 1.6077835256646305e-06, 2.4374717316019516e-06, 1.368217912923675e-06, 2.4015023578418874e-06, 1.0882070626913102e-06, 3.7950515493856217e-06, 1.5791270811786068e-06, 3.607963891414983e-06, 2.2890237113037576e-06, 3.3084194299975723e-06, 1.0596936212736738e-06, 1.0404478974973064e-06, 1.2263679022071106e-06, 8.493559778726124e-07, 1.3203080469785505e-06, 6.105647897321696e-07, 5.081890007205224e-06, 2.1806519093736373e-06, 5.355396510768287e-06, 2.72524213458026e-06, 4.733244068910691e-06, 3.864834428013428e-06, 2.167168284574927e-06, 1.9846640759400787e-06, 1.6650794832126156e-06, 2.4043994544841557e-06, 1.4324916164919012e-06, 2.386537390209418e-06], dtype=np.dtype('float64')).reshape((2, 4, 3, 2))]


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
