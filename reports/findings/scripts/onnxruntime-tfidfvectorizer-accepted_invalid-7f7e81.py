"""TfIdfVectorizer with length of pool_strings = 10: float[1] 0 where the text demands a refusal

The text: «If pool_strings is set, the input must be a string tensor.»
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
TfIdfVectorizer_9_input_of_integers (int64[1] X) => (float[Y_0] Y) {
   [TfIdfVectorizer] Y = TfIdfVectorizer <max_gram_length: int = 1, max_skip_count: int = 0, min_gram_length: int = 1, mode: string = "TF", ngram_counts: ints = [0], ngram_indexes: ints = [0], pool_strings: strings = [""]> (X)
}
""")
inputs = {
    'X': np.array([0], dtype=np.dtype('int64')).reshape((1,)),
}
print('expected: to be refused: «If pool_strings is set, the input must be a string tensor.»')

try:
    import onnxruntime
    
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = session.run(None, inputs)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(0)

print("got:     ", outputs)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
