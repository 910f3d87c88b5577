"""LSTM: 0.0 expected, 1.4078277 came

The text: «Default values are the same as of corresponding ONNX operators.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxruntime's optimizer, extended 1.31.1
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
   ir_version: 10,
   opset_import: ["" : 22]
>
LSTM_22_activation_thresholdedrelu_default () => (float[2,1,4,3] Y) 
   <float[2,4,5] X =  {0,0,0,0,0,-0.6998747,0,0,0,-0.96139747,-0.14899902,0.9997929,-0.108636595,-0.9717984,0.35905835,0.87927306,-0.58563733,-0.7283608,0.7733279,0.5290827,-0.90966666,-0.2946716,0.9856003,0.040693257,-0.9960865,0.21598727,0.940429,-0.45832545,-0.82232356,0.6702292,0,0,0,0,0,0,0,0,0,0}, float[1,12,5] W =  {0.8147051,0.4700719,-0.93583745,-0.22891693,0.9948268,-0.9534853,0.4217783,0.8447977,-0.6394733,-0.68001246,0.33331394,-0.977903,-0.0813191,0.99885803,-0.17607562,0.55216736,0.7556402,-0.74688756,-0.5631755,0.8920117,-0.99813664,0.068094194,0.9805895,-0.32078132,-0.8979277,0.64961284,-0.83762723,-0.43376553,0.9494039,0.18911462,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,-0.14899902,0.9997929,-0.108636595,-0.9717984,0.35905835,-0.6998747,-0.6181371,0.8591618,0.3967406,-0.96139747,0.9916648,-0.25554112,-0.9258147,0.49411336,0.7984871}, float[1,12,3] R =  {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}, float[1,24] B =  {0.7437486,-0.19165583,-0.69436103,0.37058502,0.59886533,-0.52490604,0,0,0,-0.7210481,-0.11174927,0.7498447,-0.08147745,-0.7288488,0.26929376,0.6594548,-0.439228,-0.54627055,0,0,0,-0.2210037,0.73920023,0.030519944}>
{
   [LSTM] Y, Y_h, Y_c = LSTM <activations: strings = ["ThresholdedRelu", "ThresholdedRelu", "ThresholdedRelu"], hidden_size: int = 3> (X, W, R, B)
}
""")
inputs = {
}
expected = [
    np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.227407455444336, 0.0, 0.0, 0.0, 0.0, 4.4134111404418945, 0.0, 12.357980728149414, 0.0, 8.83265495300293, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((2, 1, 4, 3)),
]
print("expected:", expected)

try:
    original, names = model.SerializeToString(), [item.name for item in model.graph.output]
    import onnx
    import onnxruntime
    
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
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
BOUNDS = [np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 7.182616151764857e-06, 0.0, 0.0, 0.0, 0.0, 5.122360277984797e-06, 0.0, 1.4766930604400019e-05, 0.0, 1.0944148003179188e-05, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float64')).reshape((2, 1, 4, 3))]

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
   ir_version: 10,
   opset_import: ["" : 22, "ai.onnx.ml" : 5, "ai.onnx.training" : 1, "ai.onnx.preview" : 1, "com.microsoft" : 1, "ai.onnx.preview.training" : 1, "com.microsoft.experimental" : 1, "com.microsoft.nchwc" : 1, "org.pytorch.aten" : 1]
>
LSTM_22_activation_thresholdedrelu_default () => (float[2,1,4,3] Y) 
   <float[2,1,4,3] Y =  {0,0,0,0,1.4078277,0,5.227407,0,0,0,0,4.4134116,0,12.357981,0,8.832652,0,0,0,0,0,0,0,0}>
{
}
"""  # The model that came when this was written.
if not judges and onnx.printer.to_text(model).strip() == made.strip():
    outputs = [  # By the text.
        np.array([0.0, 0.0, 0.0, 0.0, 1.4078277349472046, 0.0, 5.227406978607178, 0.0, 0.0, 0.0, 0.0, 4.413411617279053, 0.0, 12.357980728149414, 0.0, 8.83265209197998, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((2, 1, 4, 3)),
    ]
    print("got:     ", outputs, flush=True)
    check_all(list(expected), outputs)
if not judges:
    unseen("what it made cannot be judged: onnx.reference and onnxruntime are wrong on the first model, or not there")
print("as expected")
