"""QLinearConv: refused (...shape dimension '2 pointed to by the axis attribute: 1 Summary: -- Conversion is failed for: QLinearConv-10), uint8[1,1,1,1] 0 expected

The text: «Scale tensor for output 'y'. It's a scalar, which means a per-tensor/layer quantization.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and openvino 2026.4.1
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
QLinearConv_10_scalars_as_vectors (int8[1,2,1,1] x, float[1] x_scale, int8[1] x_zero_point, int8[1,2,1,1] w, float w_scale, int8 w_zero_point, float[1] y_scale, uint8[1] y_zero_point) => (uint8[1,1,1,1] y) {
   [QLinearConv] y = QLinearConv (x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point)
}
""")
inputs = {
    'x': np.array([0, 0], dtype=np.dtype('int8')).reshape((1, 2, 1, 1)),
    'x_scale': np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
    'x_zero_point': np.array([0], dtype=np.dtype('int8')).reshape((1,)),
    'w': np.array([0, 0], dtype=np.dtype('int8')).reshape((1, 2, 1, 1)),
    'w_scale': np.array([0.0], dtype=np.dtype('float32')).reshape(()),
    'w_zero_point': np.array([0], dtype=np.dtype('int8')).reshape(()),
    'y_scale': np.array([1.0], dtype=np.dtype('float32')).reshape((1,)),
    'y_zero_point': np.array([0], dtype=np.dtype('uint8')).reshape((1,)),
}
expected = [
    np.array([0], dtype=np.dtype('uint8')).reshape((1, 1, 1, 1)),
]
print("expected:", expected)

try:
    import openvino
    
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU")
    request = compiled.create_infer_request()
    names = {name for port in compiled.inputs for name in port.names}
    request.infer({name: value for name, value in inputs.items() if name in names})
    outputs = [request.get_tensor(value.name).data.copy() for value in model.graph.output]
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
