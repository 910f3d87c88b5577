"""GRU with sequence_lens is given: outputs[1]: 0.16013138 expected, -0.6514864 came

The text: «An empty string may be used in the place of an actual argument's name to indicate a missing argument.»
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
   opset_import: ["" : 7],
   producer_name: "onnx-conformance"
>
GRU_7_lengths (float[2,4,5] X, float[1,9,5] W, float[1,9,3] R, int32[4] sequence_lens) => (float[2,1,4,3] Y, float[1,4,3] Y_h) {
   [GRU] Y, Y_h = GRU <hidden_size: int = 3> (X, W, R, "", sequence_lens)
}
""")
inputs = {
    'X': np.array([0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.49411335587501526, 0.79848712682724, -0.6998746991157532, -0.6181371212005615, 0.8591617941856384, 0.396740585565567, -0.9613974690437317, -0.14899902045726776, 0.9997928738594055, -0.10863659530878067, -0.9717984199523926, 0.35905835032463074, 0.8792730569839478, -0.5856373310089111, -0.7283607721328735, 0.7733278870582581, 0.529082715511322, -0.9096666574478149, -0.29467159509658813, 0.9856002926826477, 0.0406932570040226, -0.9960864782333374, 0.21598726511001587, 0.9404289722442627, -0.45832544565200806, -0.8223235607147217, 0.6702291965484619, 0.6496128439903259, -0.8376272320747375, -0.4337655305862427, 0.9494038820266724, 0.18911461532115936, -0.9981366395950317, 0.06809419393539429, 0.9805895090103149, -0.32078132033348083, -0.8979277014732361], dtype=np.dtype('float32')).reshape((2, 4, 5)),
    'W': np.array([0.5521673560142517, 0.7556402087211609, -0.7468875646591187, -0.5631754994392395, 0.8920117020606995, -0.9981366395950317, 0.06809419393539429, 0.9805895090103149, -0.32078132033348083, -0.8979277014732361, 0.6496128439903259, -0.8376272320747375, -0.4337655305862427, 0.9494038820266724, 0.18911461532115936, 0.21598726511001587, 0.9404289722442627, -0.45832544565200806, -0.8223235607147217, 0.6702291965484619, -0.9096666574478149, -0.29467159509658813, 0.9856002926826477, 0.0406932570040226, -0.9960864782333374, 0.8792730569839478, -0.5856373310089111, -0.7283607721328735, 0.7733278870582581, 0.529082715511322, -0.14899902045726776, 0.9997928738594055, -0.10863659530878067, -0.9717984199523926, 0.35905835032463074, -0.6998746991157532, -0.6181371212005615, 0.8591617941856384, 0.396740585565567, -0.9613974690437317, 0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.49411335587501526, 0.79848712682724], dtype=np.dtype('float32')).reshape((1, 9, 5)),
    'R': np.array([-0.6181371212005615, 0.8591617941856384, 0.396740585565567, 0.49411335587501526, 0.79848712682724, -0.6998746991157532, 0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.8792730569839478, -0.5856373310089111, -0.7283607721328735, -0.10863659530878067, -0.9717984199523926, 0.35905835032463074, -0.9613974690437317, -0.14899902045726776, 0.9997928738594055, -0.9960864782333374, 0.21598726511001587, 0.9404289722442627, -0.29467159509658813, 0.9856002926826477, 0.0406932570040226, 0.7733278870582581, 0.529082715511322, -0.9096666574478149], dtype=np.dtype('float32')).reshape((1, 9, 3)),
    'sequence_lens': np.array([1, 2, 1, 2], dtype=np.dtype('int32')).reshape((4,)),
}
expected = [
    np.array([-0.08513026684522629, -0.9011836051940918, 0.1313944011926651, -0.8095712065696716, 0.0957709476351738, -0.505650520324707, 0.16013137996196747, -0.4138995409011841, -0.3906398117542267, -0.29083913564682007, -0.7247859239578247, 0.09736477583646774, 0.0, 0.0, 0.0, -0.6872005462646484, -0.6532225608825684, 0.07764086127281189, 0.0, 0.0, 0.0, 0.015063286758959293, -0.5426643490791321, -0.8415210247039795], dtype=np.dtype('float32')).reshape((2, 1, 4, 3)),
    np.array([-0.08513026684522629, -0.9011836051940918, 0.1313944011926651, -0.6872005462646484, -0.6532225608825684, 0.07764086127281189, 0.16013137996196747, -0.4138995409011841, -0.3906398117542267, 0.015063286758959293, -0.5426643490791321, -0.8415210247039795], dtype=np.dtype('float32')).reshape((1, 4, 3)),
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
BOUNDS = [np.array([2.0757266184840158e-07, 1.0532990636056248e-06, 4.520511146939813e-07, 1.2841191986989389e-06, 3.7262257787578605e-07, 7.026063150543261e-07, 4.65068970653698e-07, 8.863339559311329e-07, 7.36694110371735e-07, 5.860245453784816e-07, 1.6053271768866828e-06, 3.9760780721559817e-07, np.inf, np.inf, np.inf, 1.9040987335634087e-06, 8.667650788085065e-07, 7.721364145899836e-07, np.inf, np.inf, np.inf, 4.970941241885e-07, 1.3629965378343429e-06, 1.2798214485607291e-06], dtype=np.dtype('float64')).reshape((2, 1, 4, 3)), np.array([2.0757266184840158e-07, 1.0532990636056248e-06, 4.520511146939813e-07, 1.9040987335634087e-06, 8.667650788085065e-07, 7.721364145899836e-07, 4.65068970653698e-07, 8.863339559311329e-07, 7.36694110371735e-07, 4.970941241885e-07, 1.3629965378343429e-06, 1.2798214485607291e-06], dtype=np.dtype('float64')).reshape((1, 4, 3))]


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
    differs &= np.isfinite(bound)  # Elements without a bound may be anything.
    count = int(differs.sum())
    assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got, BOUNDS[index])
print("as expected")
