"""CastLike with type is an integer: refused (...: si64, torch.onnx_meta.opset_version = 21 : si64, torch.onnx_meta.producer_name = "onnx... (2021 characters)), float[5] 3 1 0 2 6 expected

The text: «See documentation of the Cast operator for further details.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and iree-base-compiler 3.13.0
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
   opset_import: ["" : 21],
   producer_name: "onnx-conformance"
>
CastLike_21_uint4_to_float (uint4[5] input, float[1] target_type) => (float[5] output) {
   [CastLike] output = CastLike (input, target_type)
}
""")
inputs = {
    'input': np.frombuffer(bytes.fromhex('0301000206'), dtype=ml_dtypes.uint4).reshape((5,)),
    'target_type': np.array([1.0], dtype=np.dtype('float32')).reshape((1,)),
}
expected = [
    np.array([3.0, 1.0, 0.0, 2.0, 6.0], dtype=np.dtype('float32')).reshape((5,)),
]
print("expected:", expected)

try:
    from iree import runtime
    from iree.compiler import ir
    from iree.compiler.extras import onnx_importer
    from iree.compiler.tools import compile_str
    
    graph = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(model, data_prop=True))
    module = graph.create_module(context=ir.Context()).operation
    onnx_importer.NodeImporter.define_function(graph.main_graph, module).import_all()
    compiled = compile_str(
        module.get_asm(),
        target_backends=["llvm-cpu"],
        input_type="onnx",
        extra_args=["--iree-input-demote-f64-to-f32=false"],
    )
    loaded = runtime.load_vm_flatbuffer(compiled, driver="local-sync")
    returned = loaded[model.graph.name](*inputs.values())
    values = returned if isinstance(returned, tuple) else (returned,)
    types = [onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type) for value in model.graph.output]
    outputs = [value.to_host().view(dtype) for value, dtype in zip(values, types)]  # IREE's integers have no sign
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
