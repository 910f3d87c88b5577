"""QLinearConv with w_scale is named "": the process ends by SIGABRT, a refusal expected

The text: Signature: a node has the inputs and outputs that the operator asks for.
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and tract 0.23.9
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
   ir_version: 5,
   opset_import: ["" : 10],
   producer_name: "onnx-conformance"
>
QLinearConv_10_signature_no_w_scale (int8[1,1,3,4] x, float x_scale, int8 x_zero_point, int8[1,1,2,2] w, float y_scale, int8 y_zero_point, int32[1] B) => (int8[y_0,y_1,y_2,y_3] y) {
   [QLinearConv] y = QLinearConv <dilations: ints = [1, 1], group: int = 1, kernel_shape: ints = [2, 2], pads: ints = [0, 1, 0, 1], strides: ints = [1, 2]> (x, x_scale, x_zero_point, w, "", "", y_scale, y_zero_point, B)
}
""")
inputs = {
    'x': np.array([1, 2, 0, 3, 0, 1, 1, 2, 3, 1, 0, 2], dtype=np.dtype('int8')).reshape((1, 1, 3, 4)),
    'x_scale': np.array([0.5], dtype=np.dtype('float32')).reshape(()),
    'x_zero_point': np.array([1], dtype=np.dtype('int8')).reshape(()),
    'w': np.array([1, 2, 0, 1], dtype=np.dtype('int8')).reshape((1, 1, 2, 2)),
    'y_scale': np.array([0.13699999451637268], dtype=np.dtype('float32')).reshape(()),
    'y_zero_point': np.array([2], dtype=np.dtype('int8')).reshape(()),
    'B': np.array([5], dtype=np.dtype('int32')).reshape((1,)),
}
print('expected: to be refused: Signature: a node has the inputs and outputs that the operator asks for. (w_scale is required)')

try:
    import pathlib
    import tempfile
    
    import tract
    
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        loaded = tract.onnx().load(path)
        names = [loaded.input_name(place) for place in range(loaded.input_count())]
        runnable = loaded.into_model().into_runnable()
    facts = [fact.dump() for fact in runnable.output_facts()]
    answers = runnable.run([inputs[name] for name in names])
    outputs = [
        (answer.convert_to(tract.DatumType.I64) if fact.endswith("tdim") else answer).to_numpy()
        for fact, answer in zip(facts, answers)
    ]
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(0)

print("got:     ", outputs)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
