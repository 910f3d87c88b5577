"""ConvTranspose with length of strides = 1: the process ends by SIGABRT, a refusal expected

The text: «Stride along each»
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
   ir_version: 3,
   opset_import: ["" : 1],
   producer_name: "onnx-conformance"
>
ConvTranspose_1_strides_too_few (float[1,2,4,1] X, float[2,3,2,3] W) => (float[Y_0,Y_1,Y_2,Y_3] Y) {
   [ConvTranspose] Y = ConvTranspose <strides: ints = [2]> (X, W)
}
""")
inputs = {
    'X': np.array([2.974994421005249, -2.0996241569519043, -0.4469970762729645, 2.637819290161133, -2.7290000915527344, 0.6479617953300476, 1.9488385915756226, -2.9944097995758057], dtype=np.dtype('float32')).reshape((1, 2, 4, 1)),
    'W': np.array([2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043, -1.8544113636016846, 2.5774855613708496, 1.1902216672897339, -2.88419246673584, -0.4469970762729645, 2.9993786811828613, -0.3259097933769226, -2.9153952598571777, 1.0771750211715698, 2.637819290161133, -1.7569119930267334, -2.185082197189331, 2.319983720779419, 1.5872480869293213, -2.7290000915527344, -0.8840147852897644, 2.956800937652588, 0.1220797747373581, -2.9882595539093018, 0.6479617953300476, 2.821286916732788, -1.374976396560669, -2.466970682144165, 2.0106875896453857, 1.9488385915756226, -2.5128817558288574, -1.301296591758728, 2.8482115268707275, 0.5673438906669617, -2.9944097995758057], dtype=np.dtype('float32')).reshape((2, 3, 2, 3)),
}
print('expected: to be refused: «Stride along each»')

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
