"""ConvTranspose: float[1,3,4,5] 2.07932 2.36903 -3.31967 -3.20906 4.14661 -0.493705 -1.... where the text demands a refusal

The text: «This attribute cannot be used simultaneously with auto_pad attribute.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and tinygrad 0.14.0
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
ConvTranspose_22_pads_with_same_upper (float[1,2,4,5] X, float[2,3,2,3] W) => (float[Y_0,Y_1,Y_2,Y_3] Y) {
   [ConvTranspose] Y = ConvTranspose <auto_pad: string = "SAME_UPPER", pads: ints = [1, 0, 0, 2]> (X, W)
}
""")
inputs = {
    'X': np.array([2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043, -1.8544113636016846, 2.5774855613708496, 1.1902216672897339, -2.88419246673584, -0.4469970762729645, 2.9993786811828613, -0.3259097933769226, -2.9153952598571777, 1.0771750211715698, 2.637819290161133, -1.7569119930267334, -2.185082197189331, 2.319983720779419, 1.5872480869293213, -2.7290000915527344, -0.8840147852897644, 2.956800937652588, 0.1220797747373581, -2.9882595539093018, 0.6479617953300476, 2.821286916732788, -1.374976396560669, -2.466970682144165, 2.0106875896453857, 1.9488385915756226, -2.5128817558288574, -1.301296591758728, 2.8482115268707275, 0.5673438906669617, -2.9944097995758057, 0.20428258180618286, 2.9417684078216553, -0.9623439311981201, -2.6937830448150635], dtype=np.dtype('float32')).reshape((1, 2, 4, 5)),
    'W': np.array([2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043, -1.8544113636016846, 2.5774855613708496, 1.1902216672897339, -2.88419246673584, -0.4469970762729645, 2.9993786811828613, -0.3259097933769226, -2.9153952598571777, 1.0771750211715698, 2.637819290161133, -1.7569119930267334, -2.185082197189331, 2.319983720779419, 1.5872480869293213, -2.7290000915527344, -0.8840147852897644, 2.956800937652588, 0.1220797747373581, -2.9882595539093018, 0.6479617953300476, 2.821286916732788, -1.374976396560669, -2.466970682144165, 2.0106875896453857, 1.9488385915756226, -2.5128817558288574, -1.301296591758728, 2.8482115268707275, 0.5673438906669617, -2.9944097995758057], dtype=np.dtype('float32')).reshape((2, 3, 2, 3)),
}
print('expected: to be refused: «This attribute cannot be used simultaneously with auto_pad attribute.»')

try:
    import os
    from pathlib import Path
    
    os.environ.setdefault("DEV", "CPU")  # compiles with clang, or what CC names
    
    from tinygrad.nn.onnx import OnnxRunner
    
    Path("model.onnx").write_bytes(model.SerializeToString())
    answers = OnnxRunner("model.onnx")(inputs)
    outputs = [answer.numpy() if hasattr(answer, "numpy") else answer for answer in answers.values()]
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(0)

print("got:     ", outputs)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
