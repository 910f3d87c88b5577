"""Constant with type is string: refused (...and this argument was not marked as static using the static_argnums or static_argnames parameters of jax.jit.), string[3] 'b' '' 'ä' expected

The text: «The values for the elements for the 1D, UTF-8 string, output tensor.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and jaxonnxruntime 0.3.0
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
   ir_version: 7,
   opset_import: ["" : 12],
   producer_name: "onnx-conformance"
>
Constant_12_strings () => (string[3] output) {
   [Constant] output = Constant <value_strings: strings = ["b", "", "ä"]> ()
}
""")
inputs = {
}
expected = [
    np.array(['b', '', 'ä'], dtype=object).reshape((3,)),
]
print("expected:", expected)

try:
    import jax
    import jaxonnxruntime.backend
    
    jax.config.update("jax_enable_x64", True)
    jaxonnxruntime.config.update("jaxort_only_allow_initializers_as_static_args", False)
    outputs = jaxonnxruntime.backend.prepare(model).run(inputs)
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
