"""MaxUnpool with a value of strides >= 3: 2.9993787 expected, 0.0 came

The text: «it can take any value greater than or equal to 0.»
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
   ir_version: 6,
   opset_import: ["" : 11],
   producer_name: "onnx-conformance"
>
MaxUnpool_11_pads_uneven (float[1,2,3,2] X, int64[1,2,3,2] I) => (float[1,2,5,5] output) {
   [MaxUnpool] output = MaxUnpool <kernel_shape: ints = [1, 2], strides: ints = [2, 3]> (X, I)
}
""")
inputs = {
    'X': np.array([2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043, -1.8544113636016846, 2.5774855613708496, 1.1902216672897339, -2.88419246673584, -0.4469970762729645, 2.9993786811828613], dtype=np.dtype('float32')).reshape((1, 2, 3, 2)),
    'I': np.array([0, 7, 14, 21, 28, 35, 42, 49, 6, 13, 20, 27], dtype=np.dtype('int64')).reshape((1, 2, 3, 2)),
}
expected = [
    np.array([2.974994421005249, 0.0, 0.0, 0.0, 0.0, 0.0, 1.1902216672897339, -0.766623318195343, 0.0, 0.0, 0.0, 0.0, 0.0, -2.88419246673584, -2.7774441242218018, 0.0, 0.0, 0.0, 0.0, 0.0, -0.4469970762729645, 1.4823400974273682, 0.0, 0.0, 0.0, 0.0, 0.0, 2.9993786811828613, 2.395461320877075, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -2.0996241569519043, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.8544113636016846, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.5774855613708496], dtype=np.dtype('float32')).reshape((1, 2, 5, 5)),
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

assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    assert isinstance(got, (np.ndarray, np.generic)), f"outputs[{index}]: a tensor expected, {got} got"
    np.testing.assert_array_equal(got, wanted, f"outputs[{index}]", strict=True)
    if wanted.dtype.kind == "f":  # +0 and -0 differ.
        signs = (np.signbit(np.asarray(array)[wanted == 0]) for array in (got, wanted))
        np.testing.assert_array_equal(*signs, f"outputs[{index}], signs of zeros")
print("as expected")
