"""ImageDecoder: shape [2, 3, 3] expected, shape [3, 2, 3] came

The text: «Decoded images follow a channel-last layout: (Height, Width, Channels).»
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
   ir_version: 9,
   opset_import: ["" : 20],
   producer_name: "onnx-conformance"
>
ImageDecoder_20_png_bgr (uint8[86] encoded_stream) => (uint8[2,3,3] image) {
   [ImageDecoder] image = ImageDecoder (encoded_stream)
}
""")
inputs = {
    'encoded_stream': np.array([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 3, 0, 0, 0, 2, 8, 2, 0, 0, 0, 18, 22, 241, 77, 0, 0, 0, 29, 73, 68, 65, 84, 120, 156, 99, 96, 8, 94, 246, 51, 112, 201, 119, 255, 69, 12, 95, 125, 23, 124, 246, 158, 247, 209, 115, 14, 0, 98, 115, 10, 100, 124, 81, 117, 230, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130], dtype=np.dtype('uint8')).reshape((86,)),
}
expected = [
    np.array([0, 83, 166, 249, 81, 164, 247, 79, 162, 245, 77, 160, 243, 75, 158, 241, 73, 156], dtype=np.dtype('uint8')).reshape((2, 3, 3)),
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
print("as expected")
