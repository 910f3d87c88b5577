"""ai.onnx.ml/TreeEnsembleRegressor: refused (...more information? Set IREE_SAVE_TEMPS=/some/dir in your environment to save all artifacts and reproducers.), float[1,2] 0 0 expected

The text: «One of 'BRANCH_LEQ', 'BRANCH_LT', 'BRANCH_GTE', 'BRANCH_GT', 'BRANCH_EQ', 'BRANCH_NEQ', 'LEAF'»
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
   opset_import: ["ai.onnx.ml" : 1],
   producer_name: "onnx-conformance"
>
TreeEnsembleRegressor_1_deep (float[1,3] X) => (float[1,2] Y) {
   [TreeEnsembleRegressor] Y = ai.onnx.ml.TreeEnsembleRegressor <n_targets: int = 2, nodes_falsenodeids: ints = [6, 3, 0, 5, 0, 0, 8, 0, 10, 0, 0], nodes_featureids: ints = [0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0], nodes_modes: strings = ["BRANCH_LT", "BRANCH_GT", "LEAF", "BRANCH_GTE", "LEAF", "LEAF", "BRANCH_EQ", "LEAF", "BRANCH_NEQ", "LEAF", "LEAF"], nodes_nodeids: ints = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], nodes_treeids: ints = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], nodes_truenodeids: ints = [1, 2, 0, 4, 0, 0, 7, 0, 9, 0, 0], nodes_values: floats = [2, -1, 0, 3, 0, 0, 0.5, 0, 0, 0, 0], target_ids: ints = [0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1], target_nodeids: ints = [1, 1, 1, 1, 1, 1, 1, 1, 1, 9, 10, 10], target_treeids: ints = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], target_weights: floats = [0.5, -0.25, 2, 3.5, 0.1, 0.7, 0.1, 0.7, 2, 3.5, 0.5, -0.25]> (X)
}
""")
inputs = {
    'X': np.array([1.0, 5.0, -2.0], dtype=np.dtype('float32')).reshape((1, 3)),
}
expected = [
    np.array([0.0, 0.0], dtype=np.dtype('float32')).reshape((1, 2)),
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
BOUNDS = [np.array([1.1765956861253812e-05], dtype=np.dtype('float64')).reshape(())]


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
