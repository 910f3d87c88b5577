"""RNN with activation_alpha is set: -0.051146775 expected, 0.0 came

The text: «Below are optional»
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
   ir_version: 10,
   opset_import: ["" : 22],
   producer_name: "onnx-conformance"
>
RNN_22_activation_leakyrelu (float[2,4,5] X, float[1,3,5] W, float[1,3,3] R) => (float[2,1,4,3] Y, float[1,4,3] Y_h) {
   [RNN] Y, Y_h = RNN <activations: strings = ["LeakyRelu"], hidden_size: int = 3> (X, W, R)
}
""")
inputs = {
    'X': np.array([0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.49411335587501526, 0.79848712682724, -0.6998746991157532, -0.6181371212005615, 0.8591617941856384, 0.396740585565567, -0.9613974690437317, -0.14899902045726776, 0.9997928738594055, -0.10863659530878067, -0.9717984199523926, 0.35905835032463074, 0.8792730569839478, -0.5856373310089111, -0.7283607721328735, 0.7733278870582581, 0.529082715511322, -0.9096666574478149, -0.29467159509658813, 0.9856002926826477, 0.0406932570040226, -0.9960864782333374, 0.21598726511001587, 0.9404289722442627, -0.45832544565200806, -0.8223235607147217, 0.6702291965484619, 0.6496128439903259, -0.8376272320747375, -0.4337655305862427, 0.9494038820266724, 0.18911461532115936, -0.9981366395950317, 0.06809419393539429, 0.9805895090103149, -0.32078132033348083, -0.8979277014732361], dtype=np.dtype('float32')).reshape((2, 4, 5)),
    'W': np.array([-0.14899902045726776, 0.9997928738594055, -0.10863659530878067, -0.9717984199523926, 0.35905835032463074, -0.6998746991157532, -0.6181371212005615, 0.8591617941856384, 0.396740585565567, -0.9613974690437317, 0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.49411335587501526, 0.79848712682724], dtype=np.dtype('float32')).reshape((1, 3, 5)),
    'R': np.array([-0.6181371212005615, 0.8591617941856384, 0.396740585565567, 0.49411335587501526, 0.79848712682724, -0.6998746991157532, 0.9916648268699646, -0.2555411159992218, -0.925814688205719], dtype=np.dtype('float32')).reshape((1, 3, 3)),
}
expected = [
    np.array([-0.004961430095136166, -0.019031349569559097, 2.787562847137451, -0.013378145173192024, 2.691765308380127, -0.019031349569559097, 2.106903553009033, -0.013378145173192024, -0.004961430095136166, -0.011989474296569824, -0.010810047388076782, 2.5005030632019043, 0.4293130040168762, 0.6707773804664612, -0.0509534552693367, 4.311008453369141, 0.059189580380916595, -0.0015646236715838313, -0.030576663091778755, 0.9191381335258484, 3.9773056507110596, 1.089774489402771, 0.4703678488731384, -0.05114677548408508], dtype=np.dtype('float32')).reshape((2, 1, 4, 3)),
    np.array([0.4293130040168762, 0.6707773804664612, -0.0509534552693367, 4.311008453369141, 0.059189580380916595, -0.0015646236715838313, -0.030576663091778755, 0.9191381335258484, 3.9773056507110596, 1.089774489402771, 0.4703678488731384, -0.05114677548408508], dtype=np.dtype('float32')).reshape((1, 4, 3)),
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
BOUNDS = [np.array([3.293295714720158e-09, 1.0748864691062888e-08, 1.7884754493132096e-06, 1.1493864059968998e-08, 2.0394849812066063e-06, 1.3876348775525043e-08, 1.1973649521968078e-06, 7.465255031351807e-09, 4.591210943036208e-09, 9.087508911192466e-09, 8.675917980079535e-09, 1.1503680710230267e-06, 1.1072040032699483e-06, 2.47366554398258e-06, 2.3711109798284585e-08, 2.563418091994201e-06, 1.7242344359157595e-06, 7.497252319482279e-09, 1.8304224543651234e-08, 7.749303501108278e-07, 2.1961548872897918e-06, 8.042083559303792e-07, 1.2237424849408478e-06, 2.851717333713053e-08], dtype=np.dtype('float64')).reshape((2, 1, 4, 3)), np.array([1.1072040032699483e-06, 2.47366554398258e-06, 2.3711109798284585e-08, 2.563418091994201e-06, 1.7242344359157595e-06, 7.497252319482279e-09, 1.8304224543651234e-08, 7.749303501108278e-07, 2.1961548872897918e-06, 8.042083559303792e-07, 1.2237424849408478e-06, 2.851717333713053e-08], dtype=np.dtype('float64')).reshape((1, 4, 3))]


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
