"""GridSample with align_corners is not set and mode=cubic: the process ends by SIGABRT, float[2,3,4] 2.83535 1.22756 -1.03238 2.0881 -1.77869 1.43918 -1.62031... expected

The text: «for an input `X` of rank r+2 with shape (N, C, d1, d2, ..., dr), the `grid` will have shape (N, D1_out, D2_out, ..., Dr_out, r)»
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
   ir_version: 9,
   opset_import: ["" : 20],
   producer_name: "onnx-conformance"
>
GridSample_20_line_cubic (float[2,3,5] X, float[2,4,1] grid) => (float[2,3,4] Y) {
   [GridSample] Y = GridSample <mode: string = "cubic"> (X, grid)
}
""")
inputs = {
    'X': np.array([2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043, -1.8544113636016846, 2.5774855613708496, 1.1902216672897339, -2.88419246673584, -0.4469970762729645, 2.9993786811828613, -0.3259097933769226, -2.9153952598571777, 1.0771750211715698, 2.637819290161133, -1.7569119930267334, -2.185082197189331, 2.319983720779419, 1.5872480869293213, -2.7290000915527344, -0.8840147852897644, 2.956800937652588, 0.1220797747373581, -2.9882595539093018, 0.6479617953300476, 2.821286916732788, -1.374976396560669, -2.466970682144165, 2.0106875896453857], dtype=np.dtype('float32')).reshape((2, 3, 5)),
    'grid': np.array([-0.875, 0.375, -0.375, 0.875, 0.125, -0.625, 0.625, -0.125], dtype=np.dtype('float32')).reshape((2, 4, 1)),
}
expected = [
    np.array([2.8353500366210938, 1.2275605201721191, -1.0323759317398071, 2.088102340698242, -1.7786877155303955, 1.4391778707504272, -1.6203104257583618, -2.79030704498291, -0.693767786026001, -2.960364818572998, 2.9832682609558105, 1.271493673324585, -0.8785243630409241, 1.0573567152023315, 2.430756092071533, -2.780261278152466, 2.7101454734802246, -2.5294787883758545, -2.1905517578125, 2.240835666656494, -2.3845551013946533, 1.9881958961486816, 0.20672039687633514, 0.08224187046289444], dtype=np.dtype('float32')).reshape((2, 3, 4)),
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
BOUNDS = [np.array([6.266317722771267e-06, 4.357360688747938e-06, 4.30764096590909e-06, 5.496414468092459e-06, 5.1068976962762025e-06, 4.742378657083407e-06, 4.6660079441214475e-06, 6.30799088121789e-06, 2.4444874777039202e-06, 4.901038935070309e-06, 4.627763450956203e-06, 3.6434635516287284e-06, 5.105582224884664e-06, 5.8855365762389145e-06, 4.899553096140985e-06, 5.569485852445488e-06, 4.606867064740634e-06, 5.775271224873688e-06, 5.569864744480856e-06, 4.56128339262939e-06, 5.2730926297095415e-06, 3.59900220603393e-06, 5.1488220355888625e-06, 4.629759835199018e-06], dtype=np.dtype('float64')).reshape((2, 3, 4))]


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
