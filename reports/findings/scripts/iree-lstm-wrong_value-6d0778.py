"""LSTM with B is given: -17.784283 expected, 0.0 came

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
LSTM_22_activation_elu (float[2,4,5] X, float[1,12,5] W, float[1,12,3] R) => (float[2,1,4,3] Y, float[1,4,3] Y_h, float[1,4,3] Y_c) {
   [LSTM] Y, Y_h, Y_c = LSTM <activation_alpha: floats = [0.5, 0.75, 0.375], activations: strings = ["Elu", "Elu", "Elu"], hidden_size: int = 3> (X, W, R)
}
""")
inputs = {
    'X': np.array([0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.49411335587501526, 0.79848712682724, -0.6998746991157532, -0.6181371212005615, 0.8591617941856384, 0.396740585565567, -0.9613974690437317, -0.14899902045726776, 0.9997928738594055, -0.10863659530878067, -0.9717984199523926, 0.35905835032463074, 0.8792730569839478, -0.5856373310089111, -0.7283607721328735, 0.7733278870582581, 0.529082715511322, -0.9096666574478149, -0.29467159509658813, 0.9856002926826477, 0.0406932570040226, -0.9960864782333374, 0.21598726511001587, 0.9404289722442627, -0.45832544565200806, -0.8223235607147217, 0.6702291965484619, 0.6496128439903259, -0.8376272320747375, -0.4337655305862427, 0.9494038820266724, 0.18911461532115936, -0.9981366395950317, 0.06809419393539429, 0.9805895090103149, -0.32078132033348083, -0.8979277014732361], dtype=np.dtype('float32')).reshape((2, 4, 5)),
    'W': np.array([0.8147050738334656, 0.4700719118118286, -0.93583744764328, -0.2289169281721115, 0.9948267936706543, -0.9534853100776672, 0.42177829146385193, 0.844797670841217, -0.6394733190536499, -0.6800124645233154, 0.3333139419555664, -0.9779030084609985, -0.08131910115480423, 0.9988580346107483, -0.17607562243938446, 0.5521673560142517, 0.7556402087211609, -0.7468875646591187, -0.5631754994392395, 0.8920117020606995, -0.9981366395950317, 0.06809419393539429, 0.9805895090103149, -0.32078132033348083, -0.8979277014732361, 0.6496128439903259, -0.8376272320747375, -0.4337655305862427, 0.9494038820266724, 0.18911461532115936, 0.21598726511001587, 0.9404289722442627, -0.45832544565200806, -0.8223235607147217, 0.6702291965484619, -0.9096666574478149, -0.29467159509658813, 0.9856002926826477, 0.0406932570040226, -0.9960864782333374, 0.8792730569839478, -0.5856373310089111, -0.7283607721328735, 0.7733278870582581, 0.529082715511322, -0.14899902045726776, 0.9997928738594055, -0.10863659530878067, -0.9717984199523926, 0.35905835032463074, -0.6998746991157532, -0.6181371212005615, 0.8591617941856384, 0.396740585565567, -0.9613974690437317, 0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.49411335587501526, 0.79848712682724], dtype=np.dtype('float32')).reshape((1, 12, 5)),
    'R': np.array([-0.6181371212005615, 0.8591617941856384, 0.396740585565567, 0.49411335587501526, 0.79848712682724, -0.6998746991157532, 0.9916648268699646, -0.2555411159992218, -0.925814688205719, 0.8792730569839478, -0.5856373310089111, -0.7283607721328735, -0.10863659530878067, -0.9717984199523926, 0.35905835032463074, -0.9613974690437317, -0.14899902045726776, 0.9997928738594055, -0.9960864782333374, 0.21598726511001587, 0.9404289722442627, -0.29467159509658813, 0.9856002926826477, 0.0406932570040226, 0.7733278870582581, 0.529082715511322, -0.9096666574478149, 0.9494038820266724, 0.18911461532115936, -0.9981366395950317, 0.6496128439903259, -0.8376272320747375, -0.4337655305862427, -0.45832544565200806, -0.8223235607147217, 0.6702291965484619], dtype=np.dtype('float32')).reshape((1, 12, 3)),
}
expected = [
    np.array([-0.2669156789779663, -0.13962914049625397, 5.285926342010498, -0.11929324269294739, 9.219382286071777, 0.008633757941424847, 3.5194637775421143, -0.014001434668898582, -0.052719905972480774, -0.12565802037715912, -0.10342033952474594, 8.873201370239258, 0.16574488580226898, 3.7630414962768555, -1.5124356746673584, -17.784282684326172, -12.770901679992676, 0.14896394312381744, -0.8749256730079651, 0.014211048372089863, -0.6873012781143188, 0.18718360364437103, 6.083209991455078, -2.7041287422180176], dtype=np.dtype('float32')).reshape((2, 1, 4, 3)),
    np.array([0.16574488580226898, 3.7630414962768555, -1.5124356746673584, -17.784282684326172, -12.770901679992676, 0.14896394312381744, -0.8749256730079651, 0.014211048372089863, -0.6873012781143188, 0.18718360364437103, 6.083209991455078, -2.7041287422180176], dtype=np.dtype('float32')).reshape((1, 4, 3)),
    np.array([-2.1670098304748535, 0.7842317223548889, -2.032944440841675, 36.963294982910156, 25.543107986450195, -2.103395700454712, -1.7482202053070068, -0.09184574335813522, 1.9796873331069946, -6.532754898071289, 0.985646665096283, -3.655081272125244], dtype=np.dtype('float32')).reshape((1, 4, 3)),
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
BOUNDS = [np.array([3.7029982028449847e-07, 1.6316814210577131e-07, 5.685189615128202e-06, 1.06460635019219e-07, 1.57159831888257e-05, 6.367554866846609e-08, 3.091125030622864e-06, 4.246692491790171e-08, 1.1763514556002717e-07, 1.8214816198074205e-07, 7.515459157229896e-08, 9.523772669067609e-06, 1.7502959469089628e-07, 8.619604681408794e-06, 2.97046166897099e-06, 4.509767777720476e-05, 5.158877820561714e-05, 1.5538394713498312e-07, 1.3094198445439397e-06, 4.261121958111662e-07, 3.356529615951221e-06, 1.4384889005274477e-07, 8.407523925728039e-06, 4.288143132001051e-06], dtype=np.dtype('float64')).reshape((2, 1, 4, 3)), np.array([1.7502959469089628e-07, 8.619604681408794e-06, 2.97046166897099e-06, 4.509767777720476e-05, 5.158877820561714e-05, 1.5538394713498312e-07, 1.3094198445439397e-06, 4.261121958111662e-07, 3.356529615951221e-06, 1.4384889005274477e-07, 8.407523925728039e-06, 4.288143132001051e-06], dtype=np.dtype('float64')).reshape((1, 4, 3)), np.array([6.122015974342039e-06, 1.460761167294841e-06, 3.828900297582355e-06, 9.039593981302258e-05, 0.00010608590085235763, 4.696778241898433e-06, 2.7550207373160712e-06, 2.2203995145827312e-06, 1.120937537457494e-05, 1.3304877489971022e-05, 8.237761374193098e-07, 6.341353213995507e-06], dtype=np.dtype('float64')).reshape((1, 4, 3))]


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
