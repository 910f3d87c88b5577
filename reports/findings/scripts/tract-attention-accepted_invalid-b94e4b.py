"""Attention with attn_mask is named "": float[2,2,1,1] 1.51487 -0.533476 2.00621 -1.32836 where the text demands a refusal

The text: «Must be used together with `past_value` input.»
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
   ir_version: 13,
   opset_import: ["" : 25],
   producer_name: "onnx-conformance"
>
Attention_25_past_key_alone (float[2,2,1,2] Q, float[2,2,2,2] K, float[2,2,2,1] V, float[2,2,1,2] past_key) => (float[Y_0,Y_1,Y_2,Y_3] Y) {
   [Attention] Y = Attention (Q, K, V, "", past_key)
}
""")
inputs = {
    'Q': np.array([1.4874972105026245, -0.3833116590976715, -1.3645000457763672, -0.4420073926448822, -0.04115848243236542, -1.4816341400146484, -0.7583993673324585, 1.381080985069275], dtype=np.dtype('float32')).reshape((2, 2, 1, 2)),
    'K': np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((2, 2, 2, 2)),
    'V': np.array([2.974994421005249, 2.5774855613708496, -2.2406625747680664, -0.5282268524169922, 2.2927799224853516, 2.99821138381958, -2.9636967182159424, -2.0420563220977783], dtype=np.dtype('float32')).reshape((2, 2, 2, 1)),
    'past_key': np.array([-0.7583993673324585, 1.381080985069275, 0.8282510638237, 1.133460283279419, 1.0043210983276367, -1.2342685461044312, -0.5583848357200623, -1.3086457252502441], dtype=np.dtype('float32')).reshape((2, 2, 1, 2)),
}
print('expected: to be refused: «Must be used together with `past_value` input.»')

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
