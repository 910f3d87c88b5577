"""MaxUnpool: -0 expected, 0 came

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
import ml_dtypes

model = onnx.parser.parse_model("""
<
   ir_version: 10,
   opset_import: ["" : 22],
   producer_name: "onnx-conformance"
>
MaxUnpool_22_extremes (bfloat16[1,1,11] X, int64[1,1,11] I) => (bfloat16[1,1,22] output) {
   [MaxUnpool] output = MaxUnpool <kernel_shape: ints = [2], strides: ints = [2]> (X, I, "")
}
""")
inputs = {
    'X': np.frombuffer(bytes.fromhex('c07f807f80ff0080000001008000003c7f7f7fff803f'), dtype=ml_dtypes.bfloat16).reshape((1, 1, 11)),
    'I': np.array([21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11], dtype=np.dtype('int64')).reshape((1, 1, 11)),
}
expected = [
    np.frombuffer(bytes.fromhex('00000000000000000000000000000000000000000000803f7fff7f7f003c800001000000008080ff807fc07f'), dtype=ml_dtypes.bfloat16).reshape((1, 1, 22)),
]
print("expected:", expected)

try:
    import os
    from pathlib import Path
    
    import ml_dtypes
    import numpy
    
    os.environ.setdefault("DEV", "CPU")  # compiles with clang, or what CC names
    
    from tinygrad import Tensor, dtypes
    from tinygrad.nn.onnx import OnnxRunner
    
    
    def to_tensor(array):
        if array.dtype != ml_dtypes.bfloat16:
            return array
        return Tensor(array.view(numpy.uint16)).bitcast(dtypes.bfloat16)
    
    
    def from_tensor(tensor):
        if getattr(tensor, "dtype", None) != dtypes.bfloat16:
            return tensor.numpy() if hasattr(tensor, "numpy") else tensor
        return tensor.bitcast(dtypes.uint16).numpy().view(ml_dtypes.bfloat16)
    
    
    Path("model.onnx").write_bytes(model.SerializeToString())
    answers = OnnxRunner("model.onnx")({name: to_tensor(array) for name, array in inputs.items()})
    outputs = [from_tensor(answer) for answer in answers.values()]
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)


def check(where, wanted, got, bound=0):
    assert not isinstance(got, (list, dict)) and got is not None, f"{where}: a tensor expected, {got} got"
    got = np.asarray(got)
    assert wanted.dtype == got.dtype, f"{where}: {wanted.dtype} expected, {got.dtype} got"
    assert wanted.shape == got.shape, f"{where}: shape {wanted.shape} expected, {got.shape} got"
    a, b, bound = (np.ravel(array) for array in (wanted, got, np.broadcast_to(bound, wanted.shape)))
    differs = ~((a == b) | ((a != a) & (b != b)))
    if "float" in a.dtype.name:
        differs |= (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))  # +0 and -0 differ.
    count = int(differs.sum())
    assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got)
print("as expected")
