"""MaxUnpool with I and output_shape differ in rank: refused (...Compute output_shape is smaller than minimum required. output_shape:{1,1,1,1} inferred output shape:{1,1,1,2}), float[1,1,1,1] 0 expected

The text: «The shape of the output can be explicitly set which will cause pads values to be auto generated.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxruntime 1.32.0
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
   ir_version: 4,
   opset_import: ["" : 9],
   producer_name: "onnx-conformance"
>
MaxUnpool_9_output_shape_smaller (float[1,1,1,1] X, int64[1,1,1,1] I, int64[4] output_shape) => (float[1,1,1,1] output) {
   [MaxUnpool] output = MaxUnpool <kernel_shape: ints = [1, 2]> (X, I, output_shape)
}
""")
inputs = {
    'X': np.array([0.0], dtype=np.dtype('float32')).reshape((1, 1, 1, 1)),
    'I': np.array([0], dtype=np.dtype('int64')).reshape((1, 1, 1, 1)),
    'output_shape': np.array([1, 1, 1, 1], dtype=np.dtype('int64')).reshape((4,)),
}
expected = [
    np.array([0.0], dtype=np.dtype('float32')).reshape((1, 1, 1, 1)),
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

assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    assert isinstance(got, (np.ndarray, np.generic)), f"outputs[{index}]: a tensor expected, {got} got"
    np.testing.assert_array_equal(got, wanted, f"outputs[{index}]", strict=True)
    if wanted.dtype.kind == "f":  # +0 and -0 differ.
        signs = (np.signbit(np.asarray(array)[wanted == 0]) for array in (got, wanted))
        np.testing.assert_array_equal(*signs, f"outputs[{index}], signs of zeros")
print("as expected")
