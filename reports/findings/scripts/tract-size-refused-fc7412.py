"""Size with form is none of @top, plain: refused (...facts 3: Applying rule outputs[0] == ,I64 0 4: while setting outputs[0] 5: Impossible to unify TDim with I64.), int64[] 1 expected

The text: «Constrain output to int64 tensor, which should be a scalar though.»
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

# onnx's text format cannot hold this model; it is the serialized ModelProto.
model = onnx.load_from_string(b'\x08\x04\x12\x10onnx-conformance:\xb1\x02\n\xe9\x01\n\ntakes_then\x12\x04size\x1a\x07If_Size"\x02If*u\n\x0belse_branch2c\nC\x12\tsize_else\x1a\x12Constant_size_else"\x08Constant*\x18\n\x05value*\x0c\x10\x07J\x08\x00\x00\x00\x00\x00\x00\x00\x00\xa0\x01\x04\x12\tSize_elseb\x11\n\tsize_else\x12\x04\n\x02\x08\x07\xa0\x01\x05*Q\n\x0bthen_branch2?\n\x1f\n\x04data\x12\tsize_then\x1a\x04Size"\x04Size:\x00\x12\tSize_thenb\x11\n\tsize_then\x12\x04\n\x02\x08\x07\xa0\x01\x05\x12\rSize_1_vectorZ\x0e\n\x04data\x12\x06\n\x04\x08\x01\x12\x00Z\x14\n\ntakes_then\x12\x06\n\x04\x08\t\x12\x00b\x0e\n\x04size\x12\x06\n\x04\x08\x07\x12\x00B\x04\n\x00\x10\t')
inputs = {
    'data': np.array([0.0], dtype=np.dtype('float32')).reshape(()),
    'takes_then': np.array([True], dtype=np.dtype('bool')).reshape(()),
}
expected = [
    np.array([1], dtype=np.dtype('int64')).reshape(()),
]
print("expected:", expected)

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
    os._exit(102)

print("got:     ", outputs)

assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    assert isinstance(got, (np.ndarray, np.generic)), f"outputs[{index}]: a tensor expected, {got} got"
    np.testing.assert_array_equal(got, wanted, f"outputs[{index}]", strict=True)
print("as expected")
