"""Mul: 0.0 expected, 4.0 came

Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxsim 0.8.1
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
graph (float a) => (float y) 
   <float a =  {4}, float c =  {1}>
{
   [Mul_1] y = Mul (c, a)
}
""")
inputs = {
    'a': np.array([0.0], dtype=np.dtype('float32')).reshape(()),
}
expected = [
    np.array([0.0], dtype=np.dtype('float32')).reshape(()),
]
print("expected:", expected)

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    import onnxsim
    
    model, _ = onnxsim.simplify(model, skip_shape_inference=True, skipped_optimizers=['nop', 'eliminate_nop_cast', 'eliminate_nop_dropout', 'eliminate_nop_flatten', 'extract_constant_to_initializer', 'eliminate_consecutive_idempotent_ops', 'eliminate_if_with_const_cond', 'eliminate_nop_monotone_argmax', 'eliminate_nop_pad', 'eliminate_nop_concat', 'eliminate_nop_split', 'eliminate_nop_expand', 'eliminate_shape_gather', 'eliminate_slice_after_shape', 'eliminate_nop_transpose', 'fuse_add_bias_into_conv', 'fuse_bn_into_conv', 'fuse_consecutive_concats', 'fuse_consecutive_log_softmax', 'fuse_consecutive_reduce_unsqueeze', 'fuse_consecutive_squeezes', 'fuse_consecutive_squeeze_unsqueeze', 'fuse_consecutive_transposes', 'fuse_matmul_add_bias_into_gemm', 'fuse_pad_into_conv', 'fuse_pad_into_pool', 'fuse_transpose_into_gemm', 'fuse_concat_into_reshape', 'eliminate_nop_reshape', 'eliminate_nop_with_unit', 'eliminate_common_subexpression', 'fuse_qkv', 'fuse_consecutive_unsqueezes', 'eliminate_deadend', 'eliminate_identity', 'eliminate_shape_op', 'fuse_consecutive_slices', 'eliminate_unused_initializer', 'eliminate_duplicate_initializer', 'rewrite_where'])
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

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
    assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
    for index, (wanted, got) in enumerate(zip(expected, outputs)):
        assert isinstance(got, (np.ndarray, np.generic)), f"outputs[{index}]: a tensor expected, {got} got"
        np.testing.assert_array_equal(got, wanted, f"outputs[{index}]", strict=True)
        if wanted.dtype.kind == "f":  # +0 and -0 differ.
            signs = (np.signbit(np.asarray(array)[wanted == 0]) for array in (got, wanted))
            np.testing.assert_array_equal(*signs, f"outputs[{index}], signs of zeros")


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
   metadata_props: ["onnxsim.skip_optimizers": "", "onnxsim.constant_folding": "true", "onnxsim.shape_inference": "true", "onnxsim.tensor_size_threshold": "1610612736", "onnxsim.target_opset_version": "", "onnxsim.initializers_as_constants": "true", "onnxsim.include_inline_functions": "false", "onnxsim.mutable_initializer": "false", "onnxsim.removed_nodes.count": "1", "onnxsim.removed_nodes": "Mul (Mul_1)", "onnxsim.changed_nodes.count": "0", "onnxsim.changed_nodes": "", "onnxsim.removed_values.count": "2", "onnxsim.removed_values": "a, c", "onnxsim.dropped_doc_strings": "0", "onnxsim.assigned_node_names.count": "0", "onnxsim.assigned_node_names": "", "onnxsim.inlined_functions.count": "0", "onnxsim.inlined_functions": ""]
>
graph () => (float y) 
   <float y =  {4}>
{
}
"""  # The model that came when this was written.
if not judges and onnx.printer.to_text(model).strip() == made.strip():
    outputs = [  # By the text.
        np.array([4.0], dtype=np.dtype('float32')).reshape(()),
    ]
    print("got:     ", outputs, flush=True)
    check_all(list(expected), outputs)
if not judges:
    unseen("what it made cannot be judged: onnx.reference and onnxruntime are wrong on the first model, or not there")
print("as expected")
