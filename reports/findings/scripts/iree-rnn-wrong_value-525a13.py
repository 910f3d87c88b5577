"""RNN with sequence_lens is given: outputs[1]: 0.9999557 expected, -0.9998596 came

The text: «It has shape `[num_directions, batch_size, hidden_size]`.»
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
RNN_7_every_input (float[2,4,5] X, float[1,3,5] W, float[1,3,3] R, int32[4] sequence_lens, float[1,4,3] initial_h) => (float[2,1,4,3] Y, float[1,4,3] Y_h) {
   [RNN] Y, Y_h = RNN <hidden_size: int = 3> (X, W, R, "", sequence_lens, initial_h)
}
""")
inputs = {
    'X': np.array([0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.49411335587501526, 0.79848712682724, -0.6998746991157532, -0.6181371212005615, 0.8591617941856384, 0.396740585565567, -0.9613974690437317, -0.14899902045726776, 0.9997928738594055, -0.10863659530878067, -0.9717984199523926, 0.35905835032463074, 0.8792730569839478, -0.5856373310089111, -0.7283607721328735, 0.7733278870582581, 0.529082715511322, -0.9096666574478149, -0.29467159509658813, 0.9856002926826477, 0.0406932570040226, -0.9960864782333374, 0.21598726511001587, 0.9404289722442627, -0.45832544565200806, -0.8223235607147217, 0.6702291965484619, 0.6496128439903259, -0.8376272320747375, -0.4337655305862427, 0.9494038820266724, 0.18911461532115936, -0.9981366395950317, 0.06809419393539429, 0.9805895090103149, -0.32078132033348083, -0.8979277014732361], dtype=np.dtype('float32')).reshape((2, 4, 5)),
    'W': np.array([-0.14899902045726776, 0.9997928738594055, -0.10863659530878067, -0.9717984199523926, 0.35905835032463074, -0.6998746991157532, -0.6181371212005615, 0.8591617941856384, 0.396740585565567, -0.9613974690437317, 0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.49411335587501526, 0.79848712682724], dtype=np.dtype('float32')).reshape((1, 3, 5)),
    'R': np.array([-0.6181371212005615, 0.8591617941856384, 0.396740585565567, 0.49411335587501526, 0.79848712682724, -0.6998746991157532, 0.9916648268699646, -0.2555411159992218, -0.925814688205719], dtype=np.dtype('float32')).reshape((1, 3, 3)),
    'sequence_lens': np.array([2, 1, 2, 1], dtype=np.dtype('int32')).reshape((4,)),
    'initial_h': np.array([-1.44209623336792, -0.22349853813648224, 1.4996893405914307, -0.9272056818008423, 1.2887427806854248, 0.5951108336448669, 0.7411700487136841, 1.1977306604385376, -1.0498120784759521, 1.4874972105026245, -0.3833116590976715, -1.3887220621109009], dtype=np.dtype('float32')).reshape((1, 4, 3)),
}
expected = [
    np.array([0.6630496978759766, -0.999083399772644, 0.026159493252635002, 0.5216972827911377, 0.9932791590690613, -0.9987853169441223, 0.9785118699073792, 0.6166099905967712, 0.7185841202735901, -0.9950420260429382, 0.30937081575393677, 0.9999557137489319, -0.9580155611038208, 0.9732751250267029, -0.9254770874977112, 0.0, 0.0, 0.0, -0.9107396006584167, 0.3436548411846161, 0.9659173488616943, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((2, 1, 4, 3)),
    np.array([-0.9580155611038208, 0.9732751250267029, -0.9254770874977112, 0.5216972827911377, 0.9932791590690613, -0.9987853169441223, -0.9107396006584167, 0.3436548411846161, 0.9659173488616943, -0.9950420260429382, 0.30937081575393677, 0.9999557137489319], dtype=np.dtype('float32')).reshape((1, 4, 3)),
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
BOUNDS = [np.array([8.746283936616709e-07, 9.961099487104728e-07, 1.8119799274002674e-06, 1.2328562735928656e-06, 1.5388253455373655e-06, 1.2649869158191205e-06, 1.4459876838276682e-06, 1.3176747506519975e-06, 1.4182840913106534e-06, 1.389097924559648e-06, 1.2360862822632927e-06, 1.1336930747879576e-06, 1.218955322917482e-06, 1.2505547811734509e-06, 1.0094025538460738e-06, np.inf, np.inf, np.inf, 1.3490366980562892e-06, 2.2413350888176856e-06, 1.220404441439809e-06, np.inf, np.inf, np.inf], dtype=np.dtype('float64')).reshape((2, 1, 4, 3)), np.array([1.218955322917482e-06, 1.2505547811734509e-06, 1.0094025538460738e-06, 1.2328562735928656e-06, 1.5388253455373655e-06, 1.2649869158191205e-06, 1.3490366980562892e-06, 2.2413350888176856e-06, 1.220404441439809e-06, 1.389097924559648e-06, 1.2360862822632927e-06, 1.1336930747879576e-06], dtype=np.dtype('float64')).reshape((1, 4, 3))]


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
