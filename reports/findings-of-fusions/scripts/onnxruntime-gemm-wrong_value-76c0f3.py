"""Gemm: 6.2695427 expected, 3.7488928 came

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
   ir_version: 13,
   opset_import: ["" : 26]
>
graph (uint8[3,4] x, float sx, float sw, uint8 zx, int8[4,5] w) => (float[3,5] f) 
   <int8 zw =  {3}, int32[5] b =  {900,-700,0,5000,-3}, float sb =  {0.00071}>
{
   [DequantizeLinear_0] d = DequantizeLinear (x, sx, zx)
   [DequantizeLinear_1] e = DequantizeLinear (w, sw, zw)
   [DequantizeLinear_2] c = DequantizeLinear (b, sb)
   [Gemm_3] f = Gemm (d, e, c)
}
""")
inputs = {
    'x': np.array([58, 149, 142, 240, 142, 93, 191, 16, 198, 184, 163, 58], dtype=np.dtype('uint8')).reshape((3, 4)),
    'sx': np.array([0.01730000041425228], dtype=np.dtype('float32')).reshape(()),
    'sw': np.array([0.011900000274181366], dtype=np.dtype('float32')).reshape(()),
    'zx': np.array([131], dtype=np.dtype('uint8')).reshape(()),
    'w': np.array([49, -28, 63, -98, 63, 35, 70, 105, 0, 49, -112, 63, 21, -56, -98, 56, -42, -77, 63, 112], dtype=np.dtype('int8')).reshape((4, 5)),
}
expected = [
    np.array([0.9951550960540771, -0.6567550897598267, -2.2781574726104736, 6.269542694091797, 1.483839750289917, -2.182448387145996, 0.7151625156402588, 1.4542657136917114, 1.1954647302627563, -4.054269313812256, 0.06853427737951279, 0.8780057430267334, 3.261392593383789, 0.8337510824203491, -0.9761010408401489], dtype=np.dtype('float32')).reshape((3, 5)),
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
BOUNDS = [np.array([2.7048378301988564e-06, 2.480539870084241e-06, 2.5912600897889325e-06, 5.493983565236526e-06, 2.8777379285271907e-06, 3.5040231839893025e-06, 2.5885594532138274e-06, 3.2310445904003355e-06, 3.7635979377953744e-06, 3.6645951626156325e-06, 2.8677816067371934e-06, 2.1124465496618737e-06, 3.89715934712351e-06, 5.1509975709863e-06, 3.2618230009594023e-06], dtype=np.dtype('float64')).reshape((3, 5))]


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
