"""QLinearConv with kernel_shape is not set: uint8[1,3,3,3] 255 0 12 226 7 0 0 255 0 0 255 0 ... where the text demands a refusal

The text: «Each scale and zero-point pair must have same shape.»
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
   ir_version: 5,
   opset_import: ["" : 10],
   producer_name: "onnx-conformance"
>
QLinearConv_10_y_scale_of_other_shape (int8[1,2,4,5] x, float x_scale, int8 x_zero_point, int8[3,2,2,3] w, float w_scale, int8 w_zero_point, float[1] y_scale, uint8 y_zero_point) => (uint8[y_0,y_1,y_2,y_3] y) {
   [QLinearConv] y = QLinearConv (x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point)
}
""")
inputs = {
    'x': np.array([-30, -7, 16, -22, 1, 24, -14, 9, -29, -6, 17, -21, 2, 25, -13, 10, -28, -5, 18, -20, 3, 26, -12, 11, -27, -4, 19, -19, 4, 27, -11, 12, -26, -3, 20, -18, 0, 28, -10, 13], dtype=np.dtype('int8')).reshape((1, 2, 4, 5)),
    'x_scale': np.array([0.5], dtype=np.dtype('float32')).reshape(()),
    'x_zero_point': np.array([3], dtype=np.dtype('int8')).reshape(()),
    'w': np.array([-30, -7, 16, -22, 1, 24, -14, 9, -29, -6, 17, -21, 2, 25, -13, 10, -28, -5, 18, -20, 3, 26, -12, 11, -27, -4, 19, -19, 4, 27, -11, 12, -26, -3, 20, -18], dtype=np.dtype('int8')).reshape((3, 2, 2, 3)),
    'w_scale': np.array([0.25], dtype=np.dtype('float32')).reshape(()),
    'w_zero_point': np.array([-2], dtype=np.dtype('int8')).reshape(()),
    'y_scale': np.array([0.5], dtype=np.dtype('float32')).reshape((1,)),
    'y_zero_point': np.array([11], dtype=np.dtype('uint8')).reshape(()),
}
print('expected: to be refused: «Each scale and zero-point pair must have same shape.»')

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
