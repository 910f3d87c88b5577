"""If: refused (zip() argument 2 is longer than argument 1), bfloat16[2,3] nan inf -inf -0 0 9.18355e-41 expected

The text: «All Tensor, Sequence(Tensor), Optional(Tensor), and Optional(Sequence(Tensor)) types up to IRv4.»
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
   ir_version: 8,
   opset_import: ["" : 16],
   producer_name: "onnx-conformance"
>
If_16_signature_types_v (bool cond, optional(bfloat16[]) a, optional(bfloat16[]) b, int64 zero) => (optional(bfloat16[]) outputs_0) {
   [If] outputs_0 = If (cond) <else_branch: graph = else_branch () => (optional(bfloat16[]) y) {
      y = Loop (zero, "", b) <body: graph = g (int64 i, bool c, optional(bfloat16[]) s) => (bool c, optional(bfloat16[]) s) {
      }>
   }, then_branch: graph = then_branch () => (optional(bfloat16[]) y) {
      y = Loop (zero, "", a) <body: graph = g (int64 i, bool c, optional(bfloat16[]) s) => (bool c, optional(bfloat16[]) s) {
      }>
   }>
}
""")
inputs = {
    'cond': np.array([False], dtype=np.dtype('bool')).reshape(()),
    'a': np.frombuffer(bytes.fromhex('0000803f004040408040a040'), dtype=ml_dtypes.bfloat16).reshape((2, 3)),
    'b': np.frombuffer(bytes.fromhex('c07f807f80ff008000000100'), dtype=ml_dtypes.bfloat16).reshape((2, 3)),
    'zero': np.array([0], dtype=np.dtype('int64')).reshape(()),
}
expected = [
    np.frombuffer(bytes.fromhex('c07f807f80ff008000000100'), dtype=ml_dtypes.bfloat16).reshape((2, 3)),
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
