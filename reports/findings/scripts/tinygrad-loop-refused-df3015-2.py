"""Loop: refused (zip() argument 2 is longer than argument 1), double[2,6] nan inf -inf -0 0 4.94066e-324 2.22507e-308 2.22045e-16 1.... expected

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

model = onnx.parser.parse_model("""
<
   ir_version: 8,
   opset_import: ["" : 16],
   producer_name: "onnx-conformance"
>
Loop_16_signature_types_v (int64 M, bool cond, optional(double[]) v_initial_0, bool no) => (optional(double[]) v_final_and_scan_outputs_0) {
   [Loop] v_final_and_scan_outputs_0 = Loop (M, cond, v_initial_0) <body: graph = body (int64 i, bool c, optional(double[]) s) => (bool d, optional(double[]) s) {
      d = Identity (no)
   }>
}
""")
inputs = {
    'M': np.array([2], dtype=np.dtype('int64')).reshape(()),
    'cond': np.array([True], dtype=np.dtype('bool')).reshape(()),
    'v_initial_0': np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, 2.2250738585072014e-308, 2.220446049250313e-16, 1.7976931348623157e+308, -1.7976931348623157e+308, 1.0, np.nan], dtype=np.dtype('float64')).reshape((2, 6)),
    'no': np.array([False], dtype=np.dtype('bool')).reshape(()),
}
expected = [
    np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, 2.2250738585072014e-308, 2.220446049250313e-16, 1.7976931348623157e+308, -1.7976931348623157e+308, 1.0, np.nan], dtype=np.dtype('float64')).reshape((2, 6)),
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
