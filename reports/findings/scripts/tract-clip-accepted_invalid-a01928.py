"""Clip with input and min have one shape: float[1] 0 where the text demands a refusal

The text: «It must be a scalar(tensor of empty shape).»
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
   ir_version: 6,
   opset_import: ["" : 11],
   producer_name: "onnx-conformance"
>
Clip_11_min_is_like_input (float[1] input, float[1] min) => (float[output_0] output) {
   [Clip] output = Clip (input, min)
}
""")
inputs = {
    'input': np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
    'min': np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
}
print('expected: to be refused: «It must be a scalar(tensor of empty shape).»')

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
