"""Cast: nan expected, 240 came

The text: «It is true by default.»
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
import ml_dtypes

model = onnx.parser.parse_model("""
<
   ir_version: 11,
   opset_import: ["" : 23],
   producer_name: "onnx-conformance"
>
Cast_23_infinity_float8e4m3fnuz_before_24 (float input) => (float8e4m3fnuz output) {
   [Cast] output = Cast <to: int = 18> (input)
}
""")
inputs = {
    'input': np.array([np.inf], dtype=np.dtype('float32')).reshape(()),
}
expected = [
    np.frombuffer(bytes.fromhex('80'), dtype=ml_dtypes.float8_e4m3fnuz).reshape(()),
]
print("expected:", expected)

try:
    import ctypes
    
    import numpy as np
    import onnxruntime
    
    
    def to_ort(array, number):
        value = onnxruntime.OrtValue.ortvalue_from_shape_and_type(list(array.shape), number)
        data = onnx.numpy_helper.from_array(array).raw_data
        ctypes.memmove(value.data_ptr(), data, len(data))
        return value
    
    
    def from_ort(value):
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.element_type())
        tensor = onnx.numpy_helper.from_array(np.zeros(value.shape(), dtype))
        tensor.raw_data = ctypes.string_at(value.data_ptr(), len(tensor.raw_data))
        return onnx.numpy_helper.to_array(tensor)
    
    
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    types = {value.name: value.type.tensor_type.elem_type for value in model.graph.input}
    fed = {name: to_ort(array, types[name]) for name, array in inputs.items()}
    outputs = [from_ort(value) for value in session.run_with_ort_values(None, fed)]
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
    count = int(differs.sum())
    assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got)
print("as expected")
