"""TfIdfVectorizer with X has a dimension of size 0: refused (...node. Name:'TfIdfVectorizer' Status Message: Input shape must have either [C] or [B,C] dimensions with B > 0.), float[0,7] expected

The text: «If input shape is [N, C], this operator produces a [N, max(ngram_indexes) + 1]-tensor.»
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
TfIdfVectorizer_9_no_rows (int64[0,3] X) => (float[0,7] Y) {
   [TfIdfVectorizer] Y = TfIdfVectorizer <max_gram_length: int = 1, max_skip_count: int = 0, min_gram_length: int = 1, mode: string = "TF", ngram_counts: ints = [0, 4], ngram_indexes: ints = [0, 1, 2, 3, 4, 5, 6], pool_int64s: ints = [0, 1, -1, 2, 0, 0, 0, 0, 0, 0]> (X)
}
""")
inputs = {
    'X': np.array([], dtype=np.dtype('int64')).reshape((0, 3)),
}
expected = [
    np.array([], dtype=np.dtype('float32')).reshape((0, 7)),
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
print("as expected")
