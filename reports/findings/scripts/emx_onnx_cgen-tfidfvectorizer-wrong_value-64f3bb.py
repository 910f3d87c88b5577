"""TfIdfVectorizer with values of weights differ: 11.0 expected, 2.0 came

The text: «Either this or pool_strings attributes must be present but not both.»
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
   ir_version: 4,
   opset_import: ["" : 9],
   producer_name: "onnx-conformance"
>
TfIdfVectorizer_9_idf_int32 (int32[12] X) => (float[7] Y) {
   [TfIdfVectorizer] Y = TfIdfVectorizer <max_gram_length: int = 2, max_skip_count: int = 1, min_gram_length: int = 1, mode: string = "IDF", ngram_counts: ints = [0, 4], ngram_indexes: ints = [5, 2, 6, 0, 3, 1, 4], pool_int64s: ints = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7], weights: floats = [0.5, 2, -3.25, 7, 0.1, 11, 1.7]> (X)
}
""")
inputs = {
    'X': np.array([1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8], dtype=np.dtype('int32')).reshape((12,)),
}
expected = [
    np.array([0.0, 11.0, 2.0, 0.10000000149011612, 1.7000000476837158, 0.0, -3.25], dtype=np.dtype('float32')).reshape((7,)),
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
