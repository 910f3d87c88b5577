"""CenterCropPad: refused (Translating node #9 "CenterCropPad_7_Pad" Pad ToTypedTranslator Caused by: Expect padding to be constant), float[1] 0 expected

The text: «If the input dimensions are larger than the target crop dimensions, a centered cropping window will be extracted from the input.»
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
model = onnx.load_from_string(b'\x08\x08\x12\x10onnx-conformance:\xdf\n\nM\x12\x10CenterCropPad_k2\x1a\x18CenterCropPad_0_Constant"\x08Constant*\x13\n\x05value*\x07\x08\x01\x10\x07:\x01\x02\xa0\x01\x04:\x00\nC\n\ninput_data\x12\x15CenterCropPad_x_shape\x1a\x15CenterCropPad_1_Shape"\x05Shape:\x00\nS\n\x15CenterCropPad_x_shape\n\x05shape\x12\x17CenterCropPad_padded_sh\x1a\x13CenterCropPad_2_Max"\x03Max:\x00\nf\n\x17CenterCropPad_padded_sh\n\x15CenterCropPad_x_shape\x12\x18CenterCropPad_pad_amount\x1a\x13CenterCropPad_3_Sub"\x03Sub:\x00\ng\n\x18CenterCropPad_pad_amount\n\x10CenterCropPad_k2\x12\x1dCenterCropPad_pad_amount_left\x1a\x13CenterCropPad_4_Div"\x03Div:\x00\nu\n\x18CenterCropPad_pad_amount\n\x1dCenterCropPad_pad_amount_left\x12\x1eCenterCropPad_pad_amount_right\x1a\x13CenterCropPad_5_Sub"\x03Sub:\x00\n\x82\x01\n\x1dCenterCropPad_pad_amount_left\n\x1eCenterCropPad_pad_amount_right\x12\x12CenterCropPad_pads\x1a\x16CenterCropPad_6_Concat"\x06Concat*\x0b\n\x04axis\x18\x00\xa0\x01\x02:\x00\nX\n\ninput_data\n\x12CenterCropPad_pads\x12\x1aCenterCropPad_padded_input\x1a\x13CenterCropPad_7_Pad"\x03Pad:\x00\nT\n\x1aCenterCropPad_padded_input\x12\x16CenterCropPad_x_shape2\x1a\x15CenterCropPad_8_Shape"\x05Shape:\x00\nR\n\x16CenterCropPad_x_shape2\n\x05shape\x12\x15CenterCropPad_sh_diff\x1a\x13CenterCropPad_9_Sub"\x03Sub:\x00\n`\n\x15CenterCropPad_sh_diff\n\x10CenterCropPad_k2\x12\x18CenterCropPad_start_dims\x1a\x14CenterCropPad_10_Div"\x03Div:\x00\nV\n\x18CenterCropPad_start_dims\n\x05shape\x12\x16CenterCropPad_end_dims\x1a\x14CenterCropPad_11_Add"\x03Add:\x00\n|\n\x1aCenterCropPad_padded_input\n\x18CenterCropPad_start_dims\n\x16CenterCropPad_end_dims\x12\x0boutput_data\x1a\x16CenterCropPad_12_Slice"\x05Slice:\x00\x12!CenterCropPad_18_vector_crop_evenZ\x18\n\ninput_data\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01Z\x13\n\x05shape\x12\n\n\x08\x08\x07\x12\x04\n\x02\x08\x01b\x19\n\x0boutput_data\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01B\x04\n\x00\x10\x12')
inputs = {
    'input_data': np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
    'shape': np.array([1], dtype=np.dtype('int64')).reshape((1,)),
}
expected = [
    np.array([0.0], dtype=np.dtype('float32')).reshape((1,)),
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
    if wanted.dtype.kind == "f":  # +0 and -0 differ.
        signs = (np.signbit(np.asarray(array)[wanted == 0]) for array in (got, wanted))
        np.testing.assert_array_equal(*signs, f"outputs[{index}], signs of zeros")
print("as expected")
