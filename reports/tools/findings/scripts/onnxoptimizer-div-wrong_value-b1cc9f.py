"""Div: -inf expected, inf came

Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxoptimizer 0.4.2
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

# onnx's text format cannot hold this model; it is the serialized ModelProto.
model = onnx.load_from_string(b'\x08\x08:\xd8\x04\n\xff\x03\n\tcondition\x12\x07y_of_if\x12\x07z_of_if\x1a\x02If"\x02If*\xf5\x02\n\x0belse_branch2\xe2\x02\n\x9b\x01\x12\x06y_else\x1a\x0fConstant_y_else"\x08Constant*v\n\x05value*j\x08\x02\x08\x03\x08\x04\x10\x01J`\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xa0\x01\x04\n\x9b\x01\x12\x06z_else\x1a\x0fConstant_z_else"\x08Constant*v\n\x05value*j\x08\x02\x08\x03\x08\x04\x10\x01J`\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xa0\x01\x04\x12\x04elseb\x0e\n\x06y_else\x12\x04\n\x02\x08\x01b\x0e\n\x06z_else\x12\x04\n\x02\x08\x01\xa0\x01\x05*`\n\x0bthen_branch2N\n\x17\n\x01x\n\x01c\x12\x01y\x1a\x05Div_0"\x03Div:\x00\n\x17\n\x01x\n\x01d\x12\x01z\x1a\x05Div_1"\x03Div:\x00\x12\x04thenb\t\n\x01y\x12\x04\n\x02\x08\x01b\t\n\x01z\x12\x04\n\x02\x08\x01\xa0\x01\x05\x12\x05graph*\x0b\x10\x01B\x01cJ\x04\x00\x00\x00\x00*\x0b\x10\x01B\x01dJ\x04\x00\x00\x00\x80Z\x13\n\tcondition\x12\x06\n\x04\x08\t\x12\x00Z\x0b\n\x01x\x12\x06\n\x04\x08\x01\x12\x00b\x11\n\x07z_of_if\x12\x06\n\x04\x08\x01\x12\x00B\x04\n\x00\x10\x12')
inputs = {
    'condition': np.array([True], dtype=np.dtype('bool')).reshape(()),
    'x': np.array([1.0], dtype=np.dtype('float32')).reshape(()),
}
expected = [
    np.array([-np.inf], dtype=np.dtype('float32')).reshape(()),
]
print("expected:", expected)

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    import onnxoptimizer
    
    model = onnxoptimizer.optimize(model, ['eliminate_duplicate_initializer'])
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
   opset_import: ["" : 18]
>
graph (bool condition, float x) => (float z_of_if) 
   <float c =  {0}>
{
   [If] y_of_if, z_of_if = If (condition) <else_branch: graph = else () => (float[2,3,4] y_else, float[2,3,4] z_else) 
      <float[2,3,4] y_else =  {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}, float[2,3,4] z_else =  {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}>
{
   }, then_branch: graph = then () => (float[] y, float[] z) {
      [Div_0] y = Div (x, c)
      [Div_1] z = Div (x, c)
   }>
}
"""  # The model that came when this was written.
if not judges and onnx.printer.to_text(model).strip() == made.strip():
    outputs = [  # By the text.
        np.array([np.inf], dtype=np.dtype('float32')).reshape(()),
    ]
    print("got:     ", outputs, flush=True)
    check_all(list(expected), outputs)
if not judges:
    unseen("what it made cannot be judged: onnx.reference and onnxruntime are wrong on the first model, or not there")
print("as expected")
