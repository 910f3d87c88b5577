"""TfIdfVectorizer with pool_strings is set: float[1] 0 where the text demands a refusal

The text: «Only one of pool_strings and pool_int64s can be set.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnx.reference 1.23.2
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
model = onnx.load_from_string(b'\x08\x04\x12\x10onnx-conformance:\x88\x02\n\xce\x01\n\x01X\x12\x01Y\x1a\x0fTfIdfVectorizer"\x0fTfIdfVectorizer*\x16\n\x0fmax_gram_length\x18\x00\xa0\x01\x02*\x15\n\x0emax_skip_count\x18\x00\xa0\x01\x02*\x16\n\x0fmin_gram_length\x18\x00\xa0\x01\x02*\r\n\x04mode"\x02TF\xa0\x01\x03*\x11\n\x0cngram_counts\xa0\x01\x07*\x14\n\rngram_indexes@\x00\xa0\x01\x07*\x10\n\x0bpool_int64s\xa0\x01\x07*\x11\n\x0cpool_strings\xa0\x01\x08:\x00\x12\x1bTfIdfVectorizer_9_two_poolsZ\x0b\n\x01X\x12\x06\n\x04\x08\x07\x12\x00b\x0b\n\x01Y\x12\x06\n\x04\x08\x01\x12\x00B\x04\n\x00\x10\t')
inputs = {
    'X': np.array([0], dtype=np.dtype('int64')).reshape(()),
}
print('expected: to be refused: «Only one of pool_strings and pool_int64s can be set.»')

try:
    import onnx.reference
    
    outputs = onnx.reference.ReferenceEvaluator(model).run(None, inputs)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(0)

print("got:     ", outputs)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
