"""SoftmaxCrossEntropyLoss with form is @unranked: refused (...log_prob: tensor[dtype=float, shape=(-1, -1, -1), dim_params=('log_prob_0', 'log_prob_1', 'log_prob_2')]])), float[] 2.04732; float[3,5,4] -0.573042 -0.555449 -5.41437 -2.55213 -1... expected

The text: «Otherwise, it is a scalar.»
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
   opset_import: ["" : 12],
   producer_name: "onnx-conformance"
>
SoftmaxCrossEntropyLoss_12_default_before_13 (float[scores_size] scores_data, int64[scores_rank] scores_shape, int64[labels_size] labels_data, int64[labels_rank] labels_shape) => (float output, float[log_prob_0,log_prob_1,log_prob_2] log_prob) {
   [Reshape_scores] scores = Reshape (scores_data, scores_shape)
   [Reshape_labels] labels = Reshape (labels_data, labels_shape)
   [SoftmaxCrossEntropyLoss] output, log_prob = SoftmaxCrossEntropyLoss (scores, labels)
}
""")
inputs = {
    'scores_data': np.array([2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043, -1.8544113636016846, 2.5774855613708496, 1.1902216672897339, -2.88419246673584, -0.4469970762729645, 2.9993786811828613, -0.3259097933769226, -2.9153952598571777, 1.0771750211715698, 2.637819290161133, -1.7569119930267334, -2.185082197189331, 2.319983720779419, 1.5872480869293213, -2.7290000915527344, -0.8840147852897644, 2.956800937652588, 0.1220797747373581, -2.9882595539093018, 0.6479617953300476, 2.821286916732788, -1.374976396560669, -2.466970682144165, 2.0106875896453857, 1.9488385915756226, -2.5128817558288574, -1.301296591758728, 2.8482115268707275, 0.5673438906669617, -2.9944097995758057, 0.20428258180618286, 2.9417684078216553, -0.9623439311981201, -2.6937830448150635, 1.6565021276474, 2.266920566558838, -2.2406625747680664, -1.6895265579223633, 2.676035165786743, 0.9999418258666992, -2.933709144592285, -0.2439572960138321, 2.9965741634368896, -0.5282268524169922, -2.8604559898376465, 1.2653348445892334, 2.534393072128296, -1.9184200763702393, -2.0400373935699463, 2.444115161895752, 1.4102157354354858, -2.8075122833251953, -0.6867507696151733, 2.984480381011963], dtype=np.dtype('float32')).reshape((60,)),
    'scores_shape': np.array([3, 5, 4], dtype=np.dtype('int64')).reshape((3,)),
    'labels_data': np.array([0, 2, 0, 4, 3, 3, 4, 0, 2, 0, 3, 2], dtype=np.dtype('int64')).reshape((12,)),
    'labels_shape': np.array([3, 4], dtype=np.dtype('int64')).reshape((2,)),
}
expected = [
    np.array([2.0473225116729736], dtype=np.dtype('float32')).reshape(()),
    np.array([-0.5730421543121338, -0.5554486513137817, -5.414368629455566, -2.5521349906921387, -1.1525752544403076, -1.8884494304656982, -4.491335868835449, -1.4569895267486572, -2.3578147888183594, -2.673017740249634, -3.083921432495117, -1.0350964069366455, -3.87394642829895, -2.7042205333709717, -1.5597492456436157, -1.396655797958374, -5.304948329925537, -1.973907470703125, -0.316940575838089, -2.4472270011901855, -3.259230852127075, -4.712643623352051, -0.8543158769607544, -0.3362402319908142, -3.5184903144836426, -3.1806671619415283, -0.9898298978805542, -1.8332964181900024, -2.997201442718506, -1.817941427230835, -1.8622782230377197, -2.9712016582489014, -1.8315273523330688, -0.9804174900054932, -3.2437729835510254, -3.4527297019958496, -0.32594820857048035, -0.8868606090545654, -4.773460865020752, -3.1521029472351074, -2.377575397491455, -0.3106113374233246, -2.078217029571533, -5.267725467681885, -1.3580423593521118, -1.5775901079177856, -2.771263599395752, -3.8221559524536133, -1.0375033617019653, -3.1057586669921875, -2.6980104446411133, -2.312863826751709, -1.499684453010559, -4.495952129364014, -1.8775917291641235, -1.13408362865448, -2.623861789703369, -5.385044097900391, -0.5243051052093506, -0.593718409538269], dtype=np.dtype('float32')).reshape((3, 5, 4)),
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
BOUNDS = [np.array([4.4582215737737554e-06], dtype=np.dtype('float64')).reshape(()), np.array([1.6760142748885867e-06, 1.4056511509998584e-06, 1.6289146138283852e-06, 1.5009828437619602e-06, 1.6069285457511453e-06, 1.5645572339586236e-06, 1.5188805342027647e-06, 1.6315343564734233e-06, 1.4632527829085687e-06, 1.6580850647720238e-06, 1.351103676906689e-06, 1.6818279355525759e-06, 1.360218778469118e-06, 1.6618047275720185e-06, 1.426226742008623e-06, 1.6387266974184625e-06, 1.5308075340349772e-06, 1.5747446262217293e-06, 1.574381084136405e-06, 1.5134888506586888e-06, 1.6482707927103204e-06, 1.4227892286235713e-06, 1.6716766104387373e-06, 1.3382348402437286e-06, 1.6791769290271644e-06, 1.3946495193941358e-06, 1.6555220802807183e-06, 1.4875917564118593e-06, 1.617034452973314e-06, 1.5570990931869913e-06, 1.5515181352689636e-06, 1.6232406458662465e-06, 1.478075272810713e-06, 1.6569397267253974e-06, 1.386831133455473e-06, 1.6806432618600978e-06, 1.3473010120570164e-06, 1.6680925760361445e-06, 1.4339188076597223e-06, 1.6448057600051127e-06, 1.521410251083182e-06, 1.5716398671052614e-06, 1.5835535087340416e-06, 1.5239053787432224e-06, 1.6429480602333227e-06, 1.420604231551408e-06, 1.6661710979483926e-06, 1.3515800940346592e-06, 1.6811592864165162e-06, 1.3643714246960029e-06, 1.6574386414127387e-06, 1.4733377859634514e-06, 1.626063006877814e-06, 1.5300953712617796e-06, 1.559637123417417e-06, 1.613859350126006e-06, 1.4920506252415747e-06, 1.636083421598016e-06, 1.3983127864171932e-06, 1.6782759039948017e-06], dtype=np.dtype('float64')).reshape((3, 5, 4))]


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
