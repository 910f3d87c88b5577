"""LSTM: 0.28764912 expected, 0.4489079 came

The text: «Clipping bounds the elements of a tensor in the range of [-threshold, +threshold] and is applied to the input of activations.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxruntime's optimizer, basic 1.31.1
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

model = onnx.parser.parse_model("""
<
   ir_version: 4,
   opset_import: ["" : 7]
>
LSTM_7_clip_states () => (float[2,1,4,3] Y) 
   <float[2,4,5] X =  {0.9916648,-0.25554112,-0.9258147,0.49411336,0.7984871,-0.6998747,-0.6181371,0.8591618,0.3967406,-0.96139747,0,1,0,-0.9717984,1,1,0,0,0,1,0,0,1,0,-0.9960865,0,0,0,0,0,0.64961284,-0.83762723,-0.43376553,0.9494039,0.18911462,0,0,0,0,0}, float[1,12,5] W =  {0.8147051,0.4700719,-0.93583745,-0.22891693,0.9948268,-0.9534853,0,0,0,-0.68001246,0.33331394,-0.977903,-0.0813191,0.99885803,-0.17607562,0.55216736,0.7556402,-0.74688756,-0.5631755,0.8920117,-0.99813664,0,0,0,-0.8979277,0.64961284,-0.83762723,-0.43376553,0.9494039,0.18911462,0.21598727,0.940429,-0.45832545,-0.82232356,0.6702292,-0.90966666,-0.2946716,0.9856003,0.040693257,-0.9960865,0.87927306,-0.58563733,-0.7283608,0.7733279,0.5290827,0,0,0,-0.9717984,0.35905835,-0.6998747,-0.6181371,0.8591618,0.3967406,-0.96139747,0.9916648,-0.25554112,-0.9258147,0.49411336,0.7984871}, float[1,12,3] R =  {-0.6181371,0.8591618,0.3967406,0,1,0,1,0,-0.9258147,0.87927306,-0.58563733,-0.7283608,0,0,0,-0.96139747,-0.14899902,0.9997929,-0.9960865,0.21598727,0.940429,-0.2946716,0.9856003,0.040693257,0.7733279,0.5290827,-0.90966666,1,0,0,1,-0.83762723,0,0,0,1}, float[1,24] B =  {0.7437486,0,-0.69436103,0.37058502,0,-0.52490604,-0.46360284,0.6443714,0.29755542,0,0,0,-0.08147745,0,0,0.6594548,0,-0.54627055,0.57999593,0.39681202,-0.68225,0,1,0}, int32[4] sequence_lens =  {2,1,2,1}, float[1,4,3] initial_h =  {-1.4420962,-0.22349854,1.4996893,-0.9272057,1.2887428,0.59511083,1,1.1977307,-1,1,-0.38331166,-1}, float[1,4,3] initial_c =  {-0.96139747,-0.14899902,0.9997929,-0.6181371,1,0.3967406,0.49411336,0.7984871,-0.6998747,1,-0.25554112,-0.9258147}>
{
   [LSTM] Y, Y_h, Y_c = LSTM <clip: float = 0.5, hidden_size: int = 3> (X, W, R, B, sequence_lens, initial_h, initial_c)
}
""")
inputs = {
}
expected = [
    np.array([-0.2632596492767334, -0.08559323102235794, 0.28764912486076355, -0.17180316150188446, 0.28764912486076355, -0.01300737727433443, 0.28764912486076355, 0.07791297137737274, -0.1744680255651474, 0.28764912486076355, 0.029385164380073547, -0.10604211688041687, -0.1744680255651474, 0.08904076367616653, 0.013404539786279202, 0.0, 0.0, 0.0, -0.039120618253946304, 0.10465001314878464, -0.05717960745096207, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((2, 1, 4, 3)),
]
print("expected:", expected)

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    import onnx
    import onnxruntime
    
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = "optimized.onnx"
    onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"], disabled_optimizers=[]
    )
    model = onnx.load("optimized.onnx")
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([5.442867118119472e-07, 2.7969607335310886e-07, 2.9543976822090006e-07, 5.074919873165543e-07, 5.343958952231156e-07, 3.519831640495546e-07, 4.6699861565767274e-07, 2.640451804458246e-07, 3.29327925139212e-07, 5.775154973909203e-07, 2.1916874530451774e-07, 4.4828986744277646e-07, 3.04952394012326e-07, 4.5222058179307377e-07, 2.9078698490272747e-07, np.inf, np.inf, np.inf, 3.788041416960173e-07, 3.5955099547727037e-07, 7.355693241191557e-07, np.inf, np.inf, np.inf], dtype=np.dtype('float64')).reshape((2, 1, 4, 3))]

import onnx.checker
import onnx.printer
import onnx.reference


def invalid(why):
    print("the model that it made is invalid: ", why, flush=True)
    os._exit(104)


def unseen(why):
    print(why, flush=True)
    os._exit(2)


def by_onnx_reference(item):
    return onnx.reference.ReferenceEvaluator(item).run(names, inputs)


def by_onnxruntime(item):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(item.SerializeToString(), options).run(names, inputs)


def check_all(expected, outputs):
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
        differs &= np.isfinite(bound)  # Elements without a bound may be anything.
        count = int(differs.sum())
        assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"

    assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
    for index, (wanted, got) in enumerate(zip(expected, outputs)):
        check(f"outputs[{index}]", wanted, got, BOUNDS[index])


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
except Exception as error:
    invalid(error)
judges = []
for evaluate in (by_onnx_reference, by_onnxruntime):
    try:
        check_all(list(expected), evaluate(onnx.load_from_string(original)))
    except Exception as error:  # Who is wrong on the first model is no judge of the other.
        print(f"{evaluate.__name__}, of the first model: ", " ".join(str(error).split())[:200], flush=True)
        continue
    try:
        outputs = evaluate(model)
    except Exception as error:
        invalid(error)
    print("got:     ", outputs, flush=True)
    check_all(list(expected), outputs)
    judges.append(evaluate)
made = """
<
   ir_version: 4,
   opset_import: ["" : 7, "ai.onnx.ml" : 5, "ai.onnx.training" : 1, "ai.onnx.preview" : 1, "com.microsoft" : 1, "ai.onnx.preview.training" : 1, "com.microsoft.experimental" : 1, "com.microsoft.nchwc" : 1, "org.pytorch.aten" : 1]
>
LSTM_7_clip_states () => (float[2,1,4,3] Y) 
   <float[2,1,4,3] Y =  {-0.40416187,-0.08559324,0.31443658,-0.17180316,0.4489079,-0.013007375,0.3321665,0.077912964,-0.20545979,0.36215112,0.02938517,-0.106042124,-0.18758218,0.08904074,0.013404548,0,0,0,-0.039120592,0.10438826,-0.0571796,0,0,0}>
{
}
"""  # The model that came when this was written.
if not judges and onnx.printer.to_text(model).strip() == made.strip():
    outputs = [  # By the text.
        np.array([-0.40416187047958374, -0.08559323847293854, 0.31443658471107483, -0.17180316150188446, 0.44890791177749634, -0.013007375411689281, 0.33216649293899536, 0.07791296392679214, -0.20545978844165802, 0.3621511161327362, 0.029385169968008995, -0.10604212433099747, -0.18758217990398407, 0.08904074132442474, 0.013404548168182373, 0.0, 0.0, 0.0, -0.039120592176914215, 0.10438825935125351, -0.05717960000038147, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((2, 1, 4, 3)),
    ]
    print("got:     ", outputs, flush=True)
    check_all(list(expected), outputs)
if not judges:
    unseen("what it made cannot be judged: onnx.reference and onnxruntime are wrong on the first model, or not there")
print("as expected")
