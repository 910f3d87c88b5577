"""RoiAlign: 2.75 expected, -2.6927083 came

The text: «RoiAlign is proposed to avoid the misalignment by removing quantizations while converting from original image into feature map and from feature map into RoI feature;»
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
   ir_version: 5,
   opset_import: ["" : 10],
   producer_name: "onnx-conformance"
>
RoiAlign_10_defaults (float[2,3,6,7] X) => (float[1,3,1,1] Y) 
   <float[1,4] rois =  {1.5,1,5.25,4}, int64[1] batch_indices =  {0}>
{
   [RoiAlign] Y = RoiAlign (X, rois, batch_indices)
}
""")
inputs = {
    'X': np.array([-50.0, -13.0, 24.0, -40.0, -3.0, 34.0, -30.0, 7.0, 44.0, -20.0, 17.0, -47.0, -10.0, 27.0, -37.0, 0.0, 37.0, -27.0, 10.0, 47.0, -17.0, 20.0, -44.0, -7.0, 30.0, -34.0, 3.0, 40.0, -24.0, 13.0, 50.0, -14.0, 23.0, -41.0, -4.0, 33.0, -31.0, 6.0, 43.0, -21.0, 16.0, -48.0, -11.0, 26.0, -38.0, -1.0, 36.0, -28.0, 9.0, 46.0, -18.0, 19.0, -45.0, -8.0, 29.0, -35.0, 2.0, 39.0, -25.0, 12.0, 49.0, -15.0, 22.0, -42.0, -5.0, 32.0, -32.0, 5.0, 42.0, -22.0, 15.0, -49.0, -12.0, 25.0, -39.0, -2.0, 35.0, -29.0, 8.0, 45.0, -19.0, 18.0, -46.0, -9.0, 28.0, -36.0, 1.0, 38.0, -26.0, 11.0, 48.0, -16.0, 21.0, -43.0, -6.0, 31.0, -33.0, 4.0, 41.0, -23.0, 14.0, -50.0, -13.0, 24.0, -40.0, -3.0, 34.0, -30.0, 7.0, 44.0, -20.0, 17.0, -47.0, -10.0, 27.0, -37.0, 0.0, 37.0, -27.0, 10.0, 47.0, -17.0, 20.0, -44.0, -7.0, 30.0, -34.0, 3.0, 40.0, -24.0, 13.0, 50.0, -14.0, 23.0, -41.0, -4.0, 33.0, -31.0, 6.0, 43.0, -21.0, 16.0, -48.0, -11.0, 26.0, -38.0, -1.0, 36.0, -28.0, 9.0, 46.0, -18.0, 19.0, -45.0, -8.0, 29.0, -35.0, 2.0, 39.0, -25.0, 12.0, 49.0, -15.0, 22.0, -42.0, -5.0, 32.0, -32.0, 5.0, 42.0, -22.0, 15.0, -49.0, -12.0, 25.0, -39.0, -2.0, 35.0, -29.0, 8.0, 45.0, -19.0, 18.0, -46.0, -9.0, 28.0, -36.0, 1.0, 38.0, -26.0, 11.0, 48.0, -16.0, 21.0, -43.0, -6.0, 31.0, -33.0, 4.0, 41.0, -23.0, 14.0, -50.0, -13.0, 24.0, -40.0, -3.0, 34.0, -30.0, 7.0, 44.0, -20.0, 17.0, -47.0, -10.0, 27.0, -37.0, 0.0, 37.0, -27.0, 10.0, 47.0, -17.0, 20.0, -44.0, -7.0, 30.0, -34.0, 3.0, 40.0, -24.0, 13.0, 50.0, -14.0, 23.0, -41.0, -4.0, 33.0, -31.0, 6.0, 43.0, -21.0, 16.0, -48.0, -11.0, 26.0, -38.0, -1.0, 36.0, -28.0, 9.0, 46.0], dtype=np.dtype('float32')).reshape((2, 3, 6, 7)),
}
expected = [
    np.array([2.75, 3.6119792461395264, -3.28515625], dtype=np.dtype('float32')).reshape((1, 3, 1, 1)),
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
BOUNDS = [np.array([0.0002205371856689453, 0.0002205371856689453, 0.0002205371856689453], dtype=np.dtype('float64')).reshape((1, 3, 1, 1))]


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
