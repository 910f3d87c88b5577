"""STFT with form is @if_branch: refused (...tensor[dtype=int64, shape=()]], outputs=[If_STFT_then_value_0_0: tensor[dtype=float, shape=()]])), float[2,3,3,2] 1.94379 0 4.27219 6.0743 -3.38472 1.99041 7.27351 0 3.2... expected

The text: «If onesided is 1, the output has the shape: [batch_size][frames][dft_unique_bins][2], where dft_unique_bins is frame_length // 2 + 1 (the unique components of the DFT).»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and emx-onnx-cgen 1.4.0
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
model = onnx.load_from_string(b'\x08\x08\x12\x10onnx-conformance:\xdd\x04\n\xaf\x03\n\ntakes_then\x12\x06output\x1a\x07If_STFT"\x02If*\x90\x02\n\x0belse_branch2\xfd\x01\n\xda\x01\x12\x0boutput_else\x1a\x14Constant_output_else"\x08Constant*\xaa\x01\n\x05value*\x9d\x01\x08\x02\x08\x03\x08\x03\x08\x02\x10\x01J\x90\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xa0\x01\x04\x12\tSTFT_elseb\x13\n\x0boutput_else\x12\x04\n\x02\x08\x01\xa0\x01\x05*y\n\x0bthen_branch2g\nE\n\x06signal\n\nframe_step\n\x06window\n\x0cframe_length\x12\x0boutput_then\x1a\x04STFT"\x04STFT:\x00\x12\tSTFT_thenb\x13\n\x0boutput_then\x12\x04\n\x02\x08\x01\xa0\x01\x05\x12\x0fSTFT_17_defaultZ\x1c\n\x06signal\x12\x12\n\x10\x08\x01\x12\x0c\n\x02\x08\x02\n\x02\x08\x0b\n\x02\x08\x01Z\x14\n\nframe_step\x12\x06\n\x04\x08\x07\x12\x00Z\x14\n\x06window\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x05Z\x16\n\x0cframe_length\x12\x06\n\x04\x08\x07\x12\x00Z\x14\n\ntakes_then\x12\x06\n\x04\x08\t\x12\x00b \n\x06output\x12\x16\n\x14\x08\x01\x12\x10\n\x02\x08\x02\n\x02\x08\x03\n\x02\x08\x03\n\x02\x08\x02B\x04\n\x00\x10\x11')
inputs = {
    'signal': np.array([2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043, -1.8544113636016846, 2.5774855613708496, 1.1902216672897339, -2.88419246673584, -0.4469970762729645, 2.9993786811828613, -0.3259097933769226, -2.9153952598571777, 1.0771750211715698, 2.637819290161133, -1.7569119930267334, -2.185082197189331, 2.319983720779419, 1.5872480869293213, -2.7290000915527344, -0.8840147852897644], dtype=np.dtype('float32')).reshape((2, 11, 1)),
    'frame_step': np.array([3], dtype=np.dtype('int64')).reshape(()),
    'window': np.array([0.25, 1.0, 0.75, -0.5, 2.0], dtype=np.dtype('float32')).reshape((5,)),
    'frame_length': np.array([5], dtype=np.dtype('int64')).reshape(()),
    'takes_then': np.array([True], dtype=np.dtype('bool')).reshape(()),
}
expected = [
    np.array([1.9437947273254395, 0.0, 4.2721943855285645, 6.074296951293945, -3.3847200870513916, 1.9904084205627441, 7.273505210876465, 0.0, 3.2276456356048584, 4.095043659210205, -5.9379353523254395, -0.7574717402458191, 3.5546510219573975, 0.0, -1.832237958908081, -2.9786264896392822, -1.1040947437286377, -2.563023567199707, 2.9744396209716797, 0.0, 4.484074592590332, 6.296034812927246, -4.096682548522949, 1.725205421447754, 7.321937561035156, 0.0, 2.7003979682922363, 3.3208508491516113, -5.688132286071777, -1.1154271364212036, 2.560619831085205, 0.0, -2.4426941871643066, -3.7856194972991943, -0.20329216122627258, -2.568418502807617], dtype=np.dtype('float32')).reshape((2, 3, 3, 2)),
]
print("expected:", expected)

try:
    from emx_onnx_cgen import onnx_backend
    
    outputs = onnx_backend.run_model(model, list(inputs.values()))
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([6.644480373344987e-06, 5.301423530004711e-06, 1.592285039374768e-05, 1.6193438329524074e-05, 2.3858644338866595e-05, 2.112459230996896e-05, 7.41022976796139e-06, 6.788660046203129e-06, 1.5533173307158906e-05, 1.66894045941357e-05, 2.6559628397988065e-05, 2.5151116877416782e-05, 4.18036322839116e-06, 3.284287386587119e-06, 4.965277769359012e-06, 6.2137739552279164e-06, 1.0856032404992764e-05, 6.722159434475985e-06, 9.274377911676275e-06, 6.7605471789024185e-06, 1.680503886807212e-05, 1.7366782879484574e-05, 2.7375775165574126e-05, 2.147821501228015e-05, 5.4789651888163076e-06, 7.281066082685388e-06, 1.40579627107017e-05, 1.4156573124123389e-05, 2.279413319769308e-05, 2.290178614596916e-05, 3.1658592581634925e-06, 3.3310086851185465e-06, 6.480155843351953e-06, 6.977053440694269e-06, 1.2927190838215671e-05, 8.506308848094067e-06], dtype=np.dtype('float64')).reshape((2, 3, 3, 2))]


def check(where, wanted, got, bound=0):
    assert not isinstance(got, (list, dict)) and got is not None, f"{where}: a tensor expected, {got} got"
    got = np.asarray(got)
    assert wanted.dtype == got.dtype, f"{where}: {wanted.dtype} expected, {got.dtype} got"
    assert wanted.shape == got.shape, f"{where}: shape {wanted.shape} expected, {got.shape} got"
    a, b, bound = (np.ravel(array) for array in (wanted, got, np.broadcast_to(bound, wanted.shape)))
    differs = ~((a == b) | ((a != a) & (b != b)))
    if "float" in a.dtype.name:
        with np.errstate(all="ignore"):
            wide, far = np.abs(a.astype(float)), np.abs(a.astype(float) - b.astype(float))
            near = far <= np.maximum(ATOL + (RTOL + ULP * EPS.get(a.dtype.name, 0)) * wide, bound)
        differs &= ~(near & np.isfinite(far))
    count = int(differs.sum())
    assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, (wanted, got) in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", wanted, got, BOUNDS[index])
print("as expected")
