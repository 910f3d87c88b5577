"""RotaryEmbedding: the process ends by SIGABRT, a refusal expected

The text: «cos_cache = cos_cache[ position_ids ]»
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
   ir_version: 11,
   opset_import: ["" : 23],
   producer_name: "onnx-conformance"
>
RotaryEmbedding_23_position_beyond_cache (float[2,3,1,6] X, float[1,3] cos_cache, float[1,3] sin_cache, int64[2,1] position_ids) => (float[Y_0,Y_1,Y_2,Y_3] Y) {
   [RotaryEmbedding] Y = RotaryEmbedding (X, cos_cache, sin_cache, position_ids)
}
""")
inputs = {
    'X': np.array([2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043, -2.9882595539093018, 0.6479617953300476, 2.821286916732788, -1.374976396560669, -2.466970682144165, 2.0106875896453857, 2.9965741634368896, -0.5282268524169922, -2.8604559898376465, 1.2653348445892334, 2.534393072128296, -1.9184200763702393, -2.999924659729004, 0.40761685371398926, 2.8948862552642822, -1.153597116470337, -2.5976169109344482, 1.822974443435669, 2.998305320739746, -0.28633156418800354, -2.92452073097229, 1.0399483442306519, 2.6565375328063965, -1.7245088815689087, -2.9917187690734863, 0.16457194089889526, 2.949310541152954, -0.9245767593383789, -2.711057186126709, 1.6231863498687744], dtype=np.dtype('float32')).reshape((2, 3, 1, 6)),
    'cos_cache': np.array([0.7648422122001648, 0.1699671447277069, -0.5048460960388184], dtype=np.dtype('float32')).reshape((1, 3)),
    'sin_cache': np.array([0.6442176699638367, 0.9854497313499451, 0.8632093667984009], dtype=np.dtype('float32')).reshape((1, 3)),
    'position_ids': np.array([0, 4], dtype=np.dtype('int64')).reshape((2, 1)),
}
print('expected: to be refused: «cos_cache = cos_cache[ position_ids ]»')

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
