"""BitCast with form is @if_branch: refused (Unknown tensor data type), int2[] 0 expected

The text: «The output tensor has the same shape as the input tensor.»
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
import ml_dtypes

# onnx's text format cannot hold this model; it is the serialized ModelProto.
model = onnx.load_from_string(b'\x08\r\x12\x10onnx-conformance:\xde\x02\n\x89\x02\n\ntakes_then\x12\x06output\x1a\nIf_BitCast"\x02If*w\n\x0belse_branch2e\n@\x12\x0boutput_else\x1a\x14Constant_output_else"\x08Constant*\x11\n\x05value*\x05\x10\x1aJ\x01\x01\xa0\x01\x04\x12\x0cBitCast_elseb\x13\n\x0boutput_else\x12\x04\n\x02\x08\x1a\xa0\x01\x05*j\n\x0bthen_branch2X\n3\n\x05input\x12\x0boutput_then\x1a\x07BitCast"\x07BitCast*\t\n\x02to\x18\x1a\xa0\x01\x02:\x00\x12\x0cBitCast_thenb\x13\n\x0boutput_then\x12\x04\n\x02\x08\x1a\xa0\x01\x05\x12\x17BitCast_26_int2_to_int2Z\x0f\n\x05input\x12\x06\n\x04\x08\x1a\x12\x00Z\x14\n\ntakes_then\x12\x06\n\x04\x08\t\x12\x00b\x10\n\x06output\x12\x06\n\x04\x08\x1a\x12\x00B\x04\n\x00\x10\x1a')
inputs = {
    'input': np.frombuffer(bytes.fromhex('00'), dtype=ml_dtypes.int2).reshape(()),
    'takes_then': np.array([True], dtype=np.dtype('bool')).reshape(()),
}
expected = [
    np.frombuffer(bytes.fromhex('00'), dtype=ml_dtypes.int2).reshape(()),
]
print("expected:", expected)

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    import onnxoptimizer
    
    model = onnxoptimizer.optimize(model)
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)
import pickle

import onnx.checker
import onnx.reference

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
    # Any evaluator will do in the place of onnx.reference that is right on the model before the change.
    outputs = onnx.reference.ReferenceEvaluator(model).run(names, inputs)
except Exception as error:
    print("the model that it made is invalid: ", error, flush=True)
    os._exit(104)
before = onnx.reference.ReferenceEvaluator(onnx.load_from_string(original)).run(names, inputs)
if pickle.dumps(before) == pickle.dumps(outputs):
    print("the model that it made has the values of the first", flush=True)
    os._exit(0)

print("got:     ", outputs)


def check(where, wanted, got, bound=0):
    assert not isinstance(got, (list, dict)) and got is not None, f"{where}: a tensor expected, {got} got"
    got = np.asarray(got)
    assert wanted.dtype == got.dtype, f"{where}: {wanted.dtype} expected, {got.dtype} got"
    assert wanted.shape == got.shape, f"{where}: shape {wanted.shape} expected, {got.shape} got"
    a, b, bound = (np.ravel(array) for array in (wanted, got, np.broadcast_to(bound, wanted.shape)))
    differs = ~((a == b) | ((a != a) & (b != b)))
    count = int(differs.sum())
    assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got)
print("as expected")
