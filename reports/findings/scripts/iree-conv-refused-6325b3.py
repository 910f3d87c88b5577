"""Conv with a value of strides >= 4: refused (...more information? Set IREE_SAVE_TEMPS=/some/dir in your environment to save all artifacts and reproducers.), float[1,3,1,1] 51.3476 19.9567 -50.5353 expected

The text: «The output dimensions are functions of the kernel size, stride size, and pad lengths.»
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
   ir_version: 3,
   opset_import: ["" : 1],
   producer_name: "onnx-conformance"
>
Conv_1_strides_remainder_pads (float[1,2,3,3] X, float[3,2,2,3] W) => (float[1,3,1,1] Y) {
   [Conv] Y = Conv <strides: ints = [4, 3]> (X, W)
}
""")
inputs = {
    'X': np.array([2.974994421005249, -0.766623318195343, -2.7774441242218018, 2.5774855613708496, 1.1902216672897339, -2.88419246673584, 1.0771750211715698, 2.637819290161133, -1.7569119930267334, -0.8840147852897644, 2.956800937652588, 0.1220797747373581, -2.466970682144165, 2.0106875896453857, 1.9488385915756226, -2.9944097995758057, 0.20428258180618286, 2.9417684078216553], dtype=np.dtype('float32')).reshape((1, 2, 3, 3)),
    'W': np.array([2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043, -1.8544113636016846, 2.5774855613708496, 1.1902216672897339, -2.88419246673584, -0.4469970762729645, 2.9993786811828613, -0.3259097933769226, -2.9153952598571777, 1.0771750211715698, 2.637819290161133, -1.7569119930267334, -2.185082197189331, 2.319983720779419, 1.5872480869293213, -2.7290000915527344, -0.8840147852897644, 2.956800937652588, 0.1220797747373581, -2.9882595539093018, 0.6479617953300476, 2.821286916732788, -1.374976396560669, -2.466970682144165, 2.0106875896453857, 1.9488385915756226, -2.5128817558288574, -1.301296591758728, 2.8482115268707275, 0.5673438906669617, -2.9944097995758057], dtype=np.dtype('float32')).reshape((3, 2, 2, 3)),
}
expected = [
    np.array([51.34755325317383, 19.956737518310547, -50.5352783203125], dtype=np.dtype('float32')).reshape((1, 3, 1, 1)),
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
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([3.555728251487146e-05, 2.4641379825595584e-05, 3.533762071757523e-05], dtype=np.dtype('float64')).reshape((1, 3, 1, 1))]


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
