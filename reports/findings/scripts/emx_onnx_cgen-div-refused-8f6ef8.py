"""Div with axis counted from the front = 0: refused (...outputs=[C: tensor[dtype=float, shape=(2, 3, 4, 5), dim_params=(None, None, None, None)]])), float[2,3,4,5] 3.5 4 4.5 5 5.5 6 6.5 7 7.5 8 8.5 9 ... expected

The text: «Result, has same dimensions and type as A»
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
   opset_import: ["" : 1],
   producer_name: "onnx-conformance"
>
Div_1_example_5 (float[2,3,4,5] A, float[2] B) => (float[2,3,4,5] C) {
   [Div] C = Div <axis: int = 0, broadcast: int = 1> (A, B)
}
""")
inputs = {
    'A': np.array([7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0, 33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0, 41.0, 42.0, 43.0, 44.0, 45.0, 46.0, 47.0, 48.0, 49.0, 50.0, 51.0, 52.0, 53.0, 54.0, 55.0, 56.0, 57.0, 58.0, 59.0, 60.0, 61.0, 62.0, 63.0, 64.0, 65.0, 66.0, 67.0, 68.0, 69.0, 70.0, 71.0, 72.0, 73.0, 74.0, 75.0, 76.0, 77.0, 78.0, 79.0, 80.0, 81.0, 82.0, 83.0, 84.0, 85.0, 86.0, 87.0, 88.0, 89.0, 90.0, 91.0, 92.0, 93.0, 94.0, 95.0, 96.0, 97.0, 98.0, 99.0, 100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 106.0, 107.0, 108.0, 109.0, 110.0, 111.0, 112.0, 113.0, 114.0, 115.0, 116.0, 117.0, 118.0, 119.0, 120.0, 121.0, 122.0, 123.0, 124.0, 125.0, 126.0], dtype=np.dtype('float32')).reshape((2, 3, 4, 5)),
    'B': np.array([2.0, 3.0], dtype=np.dtype('float32')).reshape((2,)),
}
expected = [
    np.array([3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 7.5, 8.0, 8.5, 9.0, 9.5, 10.0, 10.5, 11.0, 11.5, 12.0, 12.5, 13.0, 13.5, 14.0, 14.5, 15.0, 15.5, 16.0, 16.5, 17.0, 17.5, 18.0, 18.5, 19.0, 19.5, 20.0, 20.5, 21.0, 21.5, 22.0, 22.5, 23.0, 23.5, 24.0, 24.5, 25.0, 25.5, 26.0, 26.5, 27.0, 27.5, 28.0, 28.5, 29.0, 29.5, 30.0, 30.5, 31.0, 31.5, 32.0, 32.5, 33.0, 22.33333396911621, 22.66666603088379, 23.0, 23.33333396911621, 23.66666603088379, 24.0, 24.33333396911621, 24.66666603088379, 25.0, 25.33333396911621, 25.66666603088379, 26.0, 26.33333396911621, 26.66666603088379, 27.0, 27.33333396911621, 27.66666603088379, 28.0, 28.33333396911621, 28.66666603088379, 29.0, 29.33333396911621, 29.66666603088379, 30.0, 30.33333396911621, 30.66666603088379, 31.0, 31.33333396911621, 31.66666603088379, 32.0, 32.33333206176758, 32.66666793823242, 33.0, 33.33333206176758, 33.66666793823242, 34.0, 34.33333206176758, 34.66666793823242, 35.0, 35.33333206176758, 35.66666793823242, 36.0, 36.33333206176758, 36.66666793823242, 37.0, 37.33333206176758, 37.66666793823242, 38.0, 38.33333206176758, 38.66666793823242, 39.0, 39.33333206176758, 39.66666793823242, 40.0, 40.33333206176758, 40.66666793823242, 41.0, 41.33333206176758, 41.66666793823242, 42.0], dtype=np.dtype('float32')).reshape((2, 3, 4, 5)),
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

assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    assert isinstance(got, (np.ndarray, np.generic)), f"outputs[{index}]: a tensor expected, {got} got"
    np.testing.assert_array_equal(got, wanted, f"outputs[{index}]", strict=True)
print("as expected")
