"""ReduceMean: refused (...bound to different types (tensor(float16) and tensor(float) in node (Mul_8/LayerNormFusion/).), float[2,3,8] -0.236495 0.10429 -1.04092 6.8174 0.459077 -2.00621 1.138... expected

The text: «Performs element-wise binary multiplication»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxruntime 1.31.1
"""

import os
import subprocess
import sys

if sys.argv[1:] != ["once"]:  # In a process of its own: what the runtime does may end it, or never end.
    try:
        status = subprocess.run([sys.executable, __file__, "once"], timeout=30).returncode
    except subprocess.TimeoutExpired:
        status = "timeout"
    words = {0: "", 2: None, 101: "wrong", 102: "refused", 103: "accepted", 104: "invalid", "timeout": "timeout"}
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
   ir_version: 8,
   opset_import: ["" : 18]
>
graph (float16[2,3,8] x) => (float[2,3,8] f) 
   <float two =  {2}, float eps =  {0.015625}, float[8] scale =  {1.890625,1.1875,2.359375,3.53125,2.359375,1.421875,2.59375,3.765625}, float[8] bias =  {1.75,-0.25,-1.5,1,0,-1.25,-1.25,-1.375}, int64[1] r =  {-1}>
{
   [Cast_0] c = Cast <to: int = 1> (x)
   [ReduceMean_1] m = ReduceMean (c, r)
   [Sub_2] d = Sub (c, m)
   [Pow_3] q = Pow (d, two)
   [ReduceMean_4] v = ReduceMean (q, r)
   [Add_5] e = Add (v, eps)
   [Sqrt_6] s = Sqrt (e)
   [Div_7] n = Div (d, s)
   [Mul_8] g = Mul (n, scale)
   [Add_9] f = Add (g, bias)
}
""")
inputs = {
    'x': np.array([-1.25, 0.375, 0.25, 2.0, 0.25, -0.625, 1.125, -2.0, 1.25, 1.0, 0.625, -1.25, 0.375, 0.25, -2.0, 1.875, 0.0, -0.25, -0.125, 1.125, 0.25, -0.875, 1.75, 0.25, -0.875, 1.875, -0.625, -1.0, -0.75, 0.625, -1.5, -0.625, 1.625, -1.125, -1.5, -0.5, 0.5, 1.5, -0.75, -0.25, -1.125, -0.375, 0.25, 1.375, -1.625, 0.25, 1.125, -1.625], dtype=np.dtype('float16')).reshape((2, 3, 8)),
}
expected = [
    np.array([-0.23649537563323975, 0.10428974032402039, -1.0409232378005981, 6.817404747009277, 0.45907679200172424, -2.0062098503112793, 1.1388208866119385, -7.676209449768066, 3.282721996307373, 0.46820586919784546, -0.8016995787620544, -3.40775728225708, 0.21252620220184326, -1.2682969570159912, -6.089645862579346, 3.6160483360290527, 1.105509638786316, -1.0357956886291504, -2.6827666759490967, 4.894514083862305, -0.04731066897511482, -3.3313560485839844, 3.690988063812256, -1.4505090713500977, 0.7962199449539185, 2.3459632396698, -2.113161325454712, -1.2133045196533203, -0.9017078280448914, 0.11940169334411621, -4.1445417404174805, -2.3536217212677, 4.658665657043457, -1.400289535522461, -4.592071056365967, -0.4084815979003906, 1.209940791130066, 0.7754712104797363, -2.8757190704345703, -2.0186991691589355, 0.19486594200134277, -0.418410062789917, -0.4961874485015869, 6.108143329620361, -3.0114378929138184, -0.6450533270835876, 1.913450002670288, -6.181334495544434], dtype=np.dtype('float32')).reshape((2, 3, 8)),
]
print("expected:", expected)

try:
    import onnxruntime
    
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = session.run(None, inputs)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([2.156914129581717e-06, 9.183275066691996e-07, 1.9972003612239966e-06, 5.423695166624701e-06, 1.9069848002307024e-06, 1.2516975402832031e-06, 2.7000311977639496e-06, 6.132040571981281e-06, 2.547706398148836e-06, 1.496064710379974e-06, 2.8526287317652372e-06, 4.170621796735741e-06, 2.6277559800322402e-06, 1.5511529063788775e-06, 3.3927558590788143e-06, 5.984258841519896e-06, 1.604350666248175e-06, 1.0426554491839352e-06, 2.1900144899933144e-06, 3.1177274776988084e-06, 1.7974443656296884e-06, 1.6869272825819141e-06, 1.7151230060980508e-06, 2.7802548060654782e-06, 1.983646249681752e-06, 1.4636551329861492e-06, 2.3451227632648946e-06, 3.513136393616527e-06, 2.3181245617504427e-06, 1.7542913738204762e-06, 3.0764312507066584e-06, 3.826785306757575e-06, 2.425550216361976e-06, 1.347051784990969e-06, 3.238458086778194e-06, 3.963260697001487e-06, 2.3142419646164392e-06, 1.7701676374575492e-06, 3.238458086778194e-06, 3.83929798965166e-06, 2.2864422534485616e-06, 1.231781756888764e-06, 2.2794393510786227e-06, 4.81139089360489e-06, 3.378589801971528e-06, 1.3698536258379725e-06, 2.9327665806156502e-06, 5.095412796297672e-06], dtype=np.dtype('float64')).reshape((2, 3, 8))]


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
