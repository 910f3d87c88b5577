"""Cast with to=float8e8m0: 2 expected, 1 came

The text: «| 0 | 0 | NaN | | -0 | Unspecified | Unspecified | | NaN | NaN | NaN | | Inf | E8M0_MAX | NaN | | x > E8M0_MAX | E8M0_MAX | NaN | | x < E8M0_MIN | E8M0_MIN | NaN | | x < 0 | Unspecified | Unspecified |»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and openvino 2026.4.1
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
   ir_version: 12,
   opset_import: ["" : 24],
   producer_name: "onnx-conformance"
>
Cast_24_powers_up_0 (float input) => (float8e8m0 output) {
   [Cast] output = Cast <to: int = 24> (input)
}
""")
inputs = {
    'input': np.array([1.25], dtype=np.dtype('float32')).reshape(()),
}
expected = [
    np.frombuffer(bytes.fromhex('80'), dtype=ml_dtypes.float8_e8m0fnu).reshape(()),
]
print("expected:", expected)

try:
    import numpy
    import openvino
    
    TYPES = {
        "bfloat16": "bf16",
        "float8_e4m3fn": "f8e4m3",
        "float8_e5m2": "f8e5m2",
        "float8_e8m0fnu": "f8e8m0",
        "float4_e2m1fn": "f4e2m1",
        "int4": "i4",
        "uint4": "u4",
    }
    
    
    def to_openvino(array):
        if array.dtype.name not in TYPES:
            return openvino.Tensor(array)
        tensor = openvino.Tensor(getattr(openvino.Type, TYPES[array.dtype.name]), list(array.shape))
        raw = onnx.numpy_helper.from_array(array).raw_data
        tensor.data[...] = numpy.frombuffer(raw, tensor.data.dtype).reshape(tensor.data.shape)
        return tensor
    
    
    def from_openvino(tensor, number):
        proto = onnx.TensorProto(data_type=number, dims=list(tensor.shape), raw_data=tensor.data.tobytes())
        return onnx.numpy_helper.to_array(proto)
    
    
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU")
    request = compiled.create_infer_request()
    for port in compiled.inputs:
        request.set_tensor(port, to_openvino(next(inputs[name] for name in port.names if name in inputs)))
    request.infer()
    outputs = [
        from_openvino(request.get_tensor(value.name), value.type.tensor_type.elem_type) for value in model.graph.output
    ]
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
