"""InstanceNormalization with type is bfloat16: 1 expected, 16256 came

The text: «mean and variance are computed per instance per channel.»
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
   ir_version: 10,
   opset_import: ["" : 22],
   producer_name: "onnx-conformance"
>
InstanceNormalization_22_each_type (bfloat16[1,1,1,1] input) => (bfloat16[1,1,1,1] output) 
   <bfloat16[1] scale =  {0}, bfloat16[1] B =  {16256}>
{
   [InstanceNormalization] output = InstanceNormalization (input, scale, B)
}
""")
inputs = {
    'input': np.frombuffer(bytes.fromhex('0000'), dtype=ml_dtypes.bfloat16).reshape((1, 1, 1, 1)),
}
expected = [
    np.frombuffer(bytes.fromhex('803f'), dtype=ml_dtypes.bfloat16).reshape((1, 1, 1, 1)),
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
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([0.015625], dtype=np.dtype('float64')).reshape((1, 1, 1, 1))]


def check(where, wanted, got, bound=0):
    assert not isinstance(got, (list, dict)) and got is not None, f"{where}: a tensor expected, {got} got"
    got = np.asarray(got)
    assert wanted.dtype == got.dtype, f"{where}: {wanted.dtype} expected, {got.dtype} got"
    assert wanted.shape == got.shape, f"{where}: shape {wanted.shape} expected, {got.shape} got"
    a, b, bound = (np.ravel(array) for array in (wanted, got, np.broadcast_to(bound, wanted.shape)))
    differs = ~((a == b) | ((a != a) & (b != b)))
    if "float" in a.dtype.name:
        with np.errstate(all="ignore"):
            wide, far = np.abs(a.astype(float)), np.abs(a.astype(float) - b.astype(float))
            near = far <= np.maximum(ATOL + (RTOL + ULP * EPS.get(a.dtype.name, 0)) * wide, bound)
        differs &= ~(near & np.isfinite(far))
    count = int(differs.sum())
    assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got, BOUNDS[index])
print("as expected")
