"""BitShift with type is int32: 0 expected, -2147483648 came

The text: «If Y is negative, or is greater than or equal to the number of bits of T, then the result is whatever the sign bit extension alone produces: -1 for a right shift on a negative X, where the fill is a sign bit of 1, and 0 in every other case.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and apache-tvm 0.27.0.post1
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
   ir_version: 14,
   opset_import: ["" : 28],
   producer_name: "onnx-conformance"
>
BitShift_28_left_beyond_int32 (int64[3] X, int64[3,1] Y) => (int64[3,3] Z) {
   [BitShift] Z = BitShift <direction: string = "LEFT"> (X, Y)
}
""")
inputs = {
    'X': np.array([-2147483648, 2147483647, 2147483646], dtype=np.dtype('int64')).reshape((3,)),
    'Y': np.array([32, 33, 64], dtype=np.dtype('int64')).reshape((3, 1)),
}
expected = [
    np.array([-9223372036854775808, 9223372032559808512, 9223372028264841216, 0, -8589934592, -17179869184, 0, 0, 0], dtype=np.dtype('int64')).reshape((3, 3)),
]
print("expected:", expected)

try:
    import numpy
    import tvm
    from tvm import relax
    from tvm.relax.frontend.onnx import from_onnx
    
    executable = tvm.compile(from_onnx(model, keep_params_in_input=False), target="llvm")
    machine = relax.VirtualMachine(executable, tvm.cpu())
    returned = machine["main"](*(tvm.runtime.tensor(array) for array in inputs.values()))
    values = [returned] if len(model.graph.output) == 1 else list(returned)
    outputs = [value.numpy() if hasattr(value, "numpy") else numpy.array(list(value)) for value in values]
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
