"""OptionalHasElement: True expected, False came

The text: «A scalar boolean tensor. If true, it indicates that optional-type input contains an element.»
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

# onnx's text format cannot hold this model; it is the serialized ModelProto.
model = onnx.load_from_string(b'\x08\x08\x12\x10onnx-conformance:\x9d\x03\n\xb7\x02\n\ntakes_then\x12\x06output\x1a\x15If_OptionalHasElement"\x02If*\x82\x01\n\x0belse_branch2p\n@\x12\x0boutput_else\x1a\x14Constant_output_else"\x08Constant*\x11\n\x05value*\x05\x10\tJ\x01\x00\xa0\x01\x04\x12\x17OptionalHasElement_elseb\x13\n\x0boutput_else\x12\x04\n\x02\x08\t\xa0\x01\x05*\x80\x01\n\x0bthen_branch2n\n>\n\x05input\x12\x0boutput_then\x1a\x12OptionalHasElement"\x12OptionalHasElement:\x00\x12\x17OptionalHasElement_thenb\x13\n\x0boutput_then\x12\x04\n\x02\x08\t\xa0\x01\x05\x12&OptionalHasElement_15_tensor_before_18Z\x11\n\x05input\x12\x08J\x06\n\x04\n\x02\x08\x01Z\x14\n\ntakes_then\x12\x06\n\x04\x08\t\x12\x00b\x10\n\x06output\x12\x06\n\x04\x08\t\x12\x00B\x04\n\x00\x10\x0f')
inputs = {
    'input': np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], dtype=np.dtype('float32')).reshape((2, 3)),
    'takes_then': np.array([True], dtype=np.dtype('bool')).reshape(()),
}
expected = [
    np.array([True], dtype=np.dtype('bool')).reshape(()),
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
