"""LogSoftmax with axis is not the last dimension: -2.132008 expected, -0.26818892 came

Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and tinygrad 0.14.0
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
LogSoftmax_1_rank3_axis0 (float[3,4,5] input) => (float[3,4,5] output) {
   [LogSoftmax] output = LogSoftmax (input)
}
""")
inputs = {
    'input': np.array([2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043, -1.8544113636016846, 2.5774855613708496, 1.1902216672897339, -2.88419246673584, -0.4469970762729645, 2.9993786811828613, -0.3259097933769226, -2.9153952598571777, 1.0771750211715698, 2.637819290161133, -1.7569119930267334, -2.185082197189331, 2.319983720779419, 1.5872480869293213, -2.7290000915527344, -0.8840147852897644, 2.956800937652588, 0.1220797747373581, -2.9882595539093018, 0.6479617953300476, 2.821286916732788, -1.374976396560669, -2.466970682144165, 2.0106875896453857, 1.9488385915756226, -2.5128817558288574, -1.301296591758728, 2.8482115268707275, 0.5673438906669617, -2.9944097995758057, 0.20428258180618286, 2.9417684078216553, -0.9623439311981201, -2.6937830448150635, 1.6565021276474, 2.266920566558838, -2.2406625747680664, -1.6895265579223633, 2.676035165786743, 0.9999418258666992, -2.933709144592285, -0.2439572960138321, 2.9965741634368896, -0.5282268524169922, -2.8604559898376465, 1.2653348445892334, 2.534393072128296, -1.9184200763702393, -2.0400373935699463, 2.444115161895752, 1.4102157354354858, -2.8075122833251953, -0.6867507696151733, 2.984480381011963], dtype=np.dtype('float32')).reshape((3, 4, 5)),
}
expected = [
    np.array([-1.688803791999817, -5.430421352386475, -7.441242218017578, -3.1814582347869873, -2.2683370113372803, -6.76342248916626, -6.518209457397461, -2.086312770843506, -3.473576545715332, -7.547990798950195, -5.110795497894287, -1.6644195318222046, -4.989707946777344, -7.579193592071533, -3.586623191833496, -2.0259790420532227, -6.42071008682251, -6.848880290985107, -2.3438146114349365, -3.076550245285034, -7.27739953994751, -5.4324140548706055, -1.5915985107421875, -4.426319599151611, -7.536658763885498, -3.900437593460083, -1.7271125316619873, -5.923375606536865, -7.015369892120361, -2.5377118587493896, -2.5995607376098633, -7.061281204223633, -5.849696159362793, -1.7001879215240479, -3.981055498123169, -7.542809009552002, -4.344116687774658, -1.6066310405731201, -5.510743141174316, -7.24218225479126, -3.0098989009857178, -2.3994805812835693, -6.9070634841918945, -6.355927467346191, -1.990365982055664, -3.666459321975708, -7.600110054016113, -4.910358428955078, -1.6698269844055176, -5.19462776184082, -7.526856899261475, -3.401066303253174, -2.1320080757141113, -6.5848212242126465, -6.7064385414123535, -2.2222859859466553, -3.256185293197632, -7.473913192749023, -5.353151798248291, -1.6819207668304443], dtype=np.dtype('float32')).reshape((3, 4, 5)),
]
print("expected:", expected)

try:
    import os
    from pathlib import Path
    
    os.environ.setdefault("DEV", "CPU")  # compiles with clang, or what CC names
    
    from tinygrad.nn.onnx import OnnxRunner
    
    Path("model.onnx").write_bytes(model.SerializeToString())
    answers = OnnxRunner("model.onnx")(inputs)
    outputs = [answer.numpy() if hasattr(answer, "numpy") else answer for answer in answers.values()]
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([3.062208617095049e-06, 2.7989502668646047e-06, 3.038658786564948e-06, 2.8842703556364277e-06, 2.9931228879576075e-06, 2.95785634982337e-06, 2.9286247069393276e-06, 3.014821868347891e-06, 2.849447125115031e-06, 3.05138418063677e-06, 2.7608478496432518e-06, 3.0651154474270434e-06, 2.74641312067558e-06, 3.0551038434367648e-06, 2.835970914745186e-06, 3.02201420929293e-06, 2.9170018762414393e-06, 2.9680437420864756e-06, 2.984125256872968e-06, 2.8967763625331564e-06, 3.0328838078474938e-06, 2.8129444202562546e-06, 3.060039784870124e-06, 2.722114688964435e-06, 3.0637899441643377e-06, 2.784804711026819e-06, 3.043885254712105e-06, 2.871471605132566e-06, 3.0016474681104874e-06, 2.9472542848196745e-06, 2.9398813097003504e-06, 3.007120494586953e-06, 2.8626882879478863e-06, 3.0470949183580806e-06, 2.77519430788686e-06, 3.0645231105808044e-06, 2.7319140271941897e-06, 3.0582477676688278e-06, 2.822281982091109e-06, 3.0286856087258194e-06, 2.9050320875256794e-06, 2.977799635957009e-06, 2.9746694394106008e-06, 2.908968906396577e-06, 3.02656989667582e-06, 2.8267640004031555e-06, 3.057287028624952e-06, 2.736643621688014e-06, 3.0647811228590136e-06, 2.7705311935477503e-06, 3.048554572089298e-06, 2.858401313616806e-06, 3.0096848433203114e-06, 2.936255140113527e-06, 2.950753054093976e-06, 2.9989228777793606e-06, 2.875672461684072e-06, 3.0422431904497635e-06, 2.7894287170937524e-06, 3.0633394316481563e-06], dtype=np.dtype('float64')).reshape((3, 4, 5))]


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
