"""ai.onnx.ml/DictVectorizer with length of string_vocabulary = 5: double[0] where the text demands a refusal

The text: «All keys in the input dictionary must be present in the index mapping vector.»
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
model = onnx.load_from_string(b'\x08\x03\x12\x10onnx-conformance:\x92\x01\nJ\n\x01X\x12\x01Y\x1a\x0eDictVectorizer"\x0eDictVectorizer*\x16\n\x11string_vocabulary\xa0\x01\x08:\nai.onnx.ml\x12(DictVectorizer_1_string_to_int64_unknownZ\x0f\n\x01X\x12\n*\x08\x08\x08\x12\x04\n\x02\x08\x07b\t\n\x01Y\x12\x04\n\x02\x08\x07B\x0e\n\nai.onnx.ml\x10\x01')
inputs = {
    'X': {'z': np.array([0], dtype=np.dtype('int64')).reshape(()), 'a': np.array([9223372036854775807], dtype=np.dtype('int64')).reshape(()), '': np.array([-1], dtype=np.dtype('int64')).reshape(()), 'b': np.array([9007199254740993], dtype=np.dtype('int64')).reshape(()), 'c': np.array([-9223372036854775808], dtype=np.dtype('int64')).reshape(()), 'x': np.array([9223372036854775807], dtype=np.dtype('int64')).reshape(())},
}
print('expected: to be refused: «All keys in the input dictionary must be present in the index mapping vector.»')

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
