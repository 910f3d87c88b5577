"""TensorScatter with form is @unranked: refused (...-1, -1, -1), dim_params=('present_cache_0', 'present_cache_1', 'present_cache_2', 'present_cache_3')]])), float[2,3,5,3] 1 2 3 4 5 6 -7 -8 -9 -10 -11 -12 ... expected

The text: «Updated cache. Same shape as `past_cache`.»
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
   ir_version: 12,
   opset_import: ["" : 24],
   producer_name: "onnx-conformance"
>
TensorScatter_24_prefill (float[past_cache_size] past_cache_data, int64[past_cache_rank] past_cache_shape, float[update_size] update_data, int64[update_rank] update_shape) => (float[present_cache_0,present_cache_1,present_cache_2,present_cache_3] present_cache) {
   [Reshape_past_cache] past_cache = Reshape <allowzero: int = 1> (past_cache_data, past_cache_shape)
   [Reshape_update] update = Reshape <allowzero: int = 1> (update_data, update_shape)
   [TensorScatter] present_cache = TensorScatter (past_cache, update)
}
""")
inputs = {
    'past_cache_data': np.array([-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0, -9.0, -10.0, -11.0, -12.0, -13.0, -14.0, -15.0, -16.0, -17.0, -18.0, -19.0, -20.0, -21.0, -22.0, -23.0, -24.0, -25.0, -26.0, -27.0, -28.0, -29.0, -30.0, -31.0, -32.0, -33.0, -34.0, -35.0, -36.0, -37.0, -38.0, -39.0, -40.0, -41.0, -42.0, -43.0, -44.0, -45.0, -46.0, -47.0, -48.0, -49.0, -50.0, -51.0, -52.0, -53.0, -54.0, -55.0, -56.0, -57.0, -58.0, -59.0, -60.0, -61.0, -62.0, -63.0, -64.0, -65.0, -66.0, -67.0, -68.0, -69.0, -70.0, -71.0, -72.0, -73.0, -74.0, -75.0, -76.0, -77.0, -78.0, -79.0, -80.0, -81.0, -82.0, -83.0, -84.0, -85.0, -86.0, -87.0, -88.0, -89.0, -90.0], dtype=np.dtype('float32')).reshape((90,)),
    'past_cache_shape': np.array([2, 3, 5, 3], dtype=np.dtype('int64')).reshape((4,)),
    'update_data': np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0, 33.0, 34.0, 35.0, 36.0], dtype=np.dtype('float32')).reshape((36,)),
    'update_shape': np.array([2, 3, 2, 3], dtype=np.dtype('int64')).reshape((4,)),
}
expected = [
    np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -7.0, -8.0, -9.0, -10.0, -11.0, -12.0, -13.0, -14.0, -15.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, -22.0, -23.0, -24.0, -25.0, -26.0, -27.0, -28.0, -29.0, -30.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, -37.0, -38.0, -39.0, -40.0, -41.0, -42.0, -43.0, -44.0, -45.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, -52.0, -53.0, -54.0, -55.0, -56.0, -57.0, -58.0, -59.0, -60.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, -67.0, -68.0, -69.0, -70.0, -71.0, -72.0, -73.0, -74.0, -75.0, 31.0, 32.0, 33.0, 34.0, 35.0, 36.0, -82.0, -83.0, -84.0, -85.0, -86.0, -87.0, -88.0, -89.0, -90.0], dtype=np.dtype('float32')).reshape((2, 3, 5, 3)),
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
