"""Add: 0.0 expected, 1.3125 came

Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxslim 0.1.98
"""

import os
import subprocess
import sys

if sys.argv[1:] != ["once"]:  # In a process of its own: what the runtime does may end it, or never end.
    try:
        status = subprocess.run([sys.executable, __file__, "once"], timeout=30).returncode
    except subprocess.TimeoutExpired:
        status = "timeout"
    words = {0: "", 2: None, 101: "wrong", 102: "refused", 103: "accepted", 104: "invalid", "timeout": "timeout"}
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
   ir_version: 8,
   opset_import: ["" : 18]
>
graph (float[8,8] wq, float[8] bq, float[1,1,8] n) => (float[1,1,8] qa) 
   <float[8,8] wq =  {1.25,0,1.125,1.5625,0.25,0.0625,0.125,0.0625,0.75,1.125,1.25,1.875,0.875,1.0625,1.25,0.875,1.375,1.1875,0.4375,0.875,0.5625,1.0625,1.8125,0.5,1.6875,1.5625,1,0.9375,1.1875,0.5,0.5625,1.125,1.75,1.75,2,1.875,1.9375,0.125,0.0625,1.3125,0.5625,0.25,0.8125,0.375,1.375,1.6875,0.5625,1.125,1.1875,1.6875,1.9375,1.8125,1.9375,0.4375,1.375,0.875,0.4375,1.125,1.3125,0.5625,0.6875,0.3125,0.1875,0}, float[8] bq =  {-1.5,3,0.75,1.5,-2.25,-1.25,-0.25,2.75}>
{
   [MatMul_1] qm = MatMul (n, wq)
   [Add_2] qa = Add (bq, qm)
}
""")
inputs = {
    'wq': np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((8, 8)),
    'bq': np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((8,)),
    'n': np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], dtype=np.dtype('float32')).reshape((1, 1, 8)),
}
expected = [
    np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((1, 1, 8)),
]
print("expected:", expected)

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    import onnxslim
    
    model = onnxslim.slim(model, no_shape_infer=True, skip_optimizations=['constant_folding', 'dead_node_elimination', 'subexpression_elimination', 'weight_tying'], skip_fusion_patterns=['EliminationConcat', 'EliminationReshape', 'EliminationReshapeAs', 'EliminationSlice', 'EliminationTranspose', 'EliminationTransposeViewTranspose', 'EliminationUnsqueeze', 'EliminationTransposeAsReshape', 'FusionConcatReshape', 'FusionConvAdd', 'FusionConvTransposeAdd', 'FusionConvBN', 'FusionConvTransposeBN', 'FusionConvMul', 'FusionConvTransposeMul', 'FusionGemmMul', 'FusionGemmAdd', 'FusionPadConv', 'FusionReduce'])
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float64')).reshape((1, 1, 8))]

import onnx.checker
import onnx.printer
import onnx.reference


def invalid(why):
    print("the model that it made is invalid: ", why, flush=True)
    os._exit(104)


def unseen(why):
    print(why, flush=True)
    os._exit(2)


def by_onnx_reference(item):
    return onnx.reference.ReferenceEvaluator(item).run(names, inputs)


def by_onnxruntime(item):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(item.SerializeToString(), options).run(names, inputs)


def check_all(expected, outputs):
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


try:
    onnx.checker.check_model(model)
    first = onnx.load_from_string(original).graph
    there = [item.name for item in model.graph.output]
    assert there == names, f"outputs {names} expected, {there} came"
    for before, after in zip(first.output, model.graph.output):
        types = [(item.type.WhichOneof("value"), item.type.tensor_type.elem_type) for item in (before, after)]
        same = types[0] == types[1] or not all(kind for kind, _ in types)
        assert same, f"{before.name}: {types[0]} expected, {types[1]} came"
    known = {item.name for item in (*first.input, *model.graph.initializer)}
    extra = [item.name for item in model.graph.input if item.name not in known]
    assert not extra, f"it has the inputs {extra}, which the first model has not"
except Exception as error:
    invalid(error)
judges = []
for evaluate in (by_onnx_reference, by_onnxruntime):
    try:
        check_all(list(expected), evaluate(onnx.load_from_string(original)))
    except Exception as error:  # Who is wrong on the first model is no judge of the other.
        print(f"{evaluate.__name__}, of the first model: ", " ".join(str(error).split())[:200], flush=True)
        continue
    try:
        outputs = evaluate(model)
    except Exception as error:
        invalid(error)
    print("got:     ", outputs, flush=True)
    check_all(list(expected), outputs)
    judges.append(evaluate)
made = """
<
   ir_version: 8,
   opset_import: ["" : 18],
   producer_name: "",
   producer_version: ""
>
graph (float[1,1,8] n) => (float[1,1,8] qa) 
   <int64[2] qm_pre_reshape_in =  {-1,8}, float[8,8] qm_weight =  {1.25,0.75,1.375,1.6875,1.75,0.5625,1.1875,0.4375,0,1.125,1.1875,1.5625,1.75,0.25,1.6875,1.125,1.125,1.25,0.4375,1,2,0.8125,1.9375,1.3125,1.5625,1.875,0.875,0.9375,1.875,0.375,1.8125,0.5625,0.25,0.875,0.5625,1.1875,1.9375,1.375,1.9375,0.6875,0.0625,1.0625,1.0625,0.5,0.125,1.6875,0.4375,0.3125,0.125,1.25,1.8125,0.5625,0.0625,0.5625,1.375,0.1875,0.0625,0.875,0.5,1.125,1.3125,1.125,0.875,0}, float[8] bq =  {-1.5,3,0.75,1.5,-2.25,-1.25,-0.25,2.75}, int64[3] qm_post_reshape_in =  {1,1,8}, float[1,8] qm_pre_reshape_out, float[1,8] qm_gemm_out, float[1,8] qm_pre_reshape_out, float[1,8] qm_gemm_out, float[1,1,8] qa>
{
   [qm_pre_reshape] qm_pre_reshape_out = Reshape (n, qm_pre_reshape_in)
   [qm] qm_gemm_out = Gemm <alpha: float = 1, beta: float = 1, transA: int = 0, transB: int = 1> (qm_pre_reshape_out, qm_weight, bq)
   [qm_post_reshape] qa = Reshape (qm_gemm_out, qm_post_reshape_in)
}
"""  # The model that came when this was written.
if not judges and onnx.printer.to_text(model).strip() == made.strip():
    outputs = [  # By the text.
        np.array([0.4375, 1.125, 1.3125, 0.5625, 0.6875, 0.3125, 0.1875, 0.0], dtype=np.dtype('float32')).reshape((1, 1, 8)),
    ]
    print("got:     ", outputs, flush=True)
    check_all(list(expected), outputs)
if not judges:
    unseen("what it made cannot be judged: onnx.reference and onnxruntime are wrong on the first model, or not there")
print("as expected")
