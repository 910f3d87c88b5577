"""Reshape: float[3,3] 0 1 2 3 4 5 6 7 8 where the text demands a refusal

The text: «The input tensor's shape and the output tensor's shape are required to have the same number of elements.»
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

model = onnx.parser.parse_model("""
<
   ir_version: 13,
   opset_import: ["" : 25],
   producer_name: "onnx-conformance"
>
Reshape_25_too_few (float[2,6] data, int64[2] shape) => (float[reshaped_0,reshaped_1] reshaped) {
   [Reshape] reshaped = Reshape (data, shape)
}
""")
inputs = {
    'data': np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0], dtype=np.dtype('float32')).reshape((2, 6)),
    'shape': np.array([3, 3], dtype=np.dtype('int64')).reshape((2,)),
}
print("expected: to be refused: «The input tensor's shape and the output tensor's shape are required to have the same number of elements.»")

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
    os._exit(0)

print("got:     ", outputs)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
