"""ReduceMean with data and axes differ in rank and opset is 18: 7.2932973 expected, 4.894514 came

The text: «Performs element-wise binary multiplication»
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
   ir_version: 8,
   opset_import: ["" : 18]
>
graph (float[x_0,x_1] x) => (float[y_0,y_1] y) 
   <float two =  {2}, float eps =  {0.015625}, float[8] scale =  {1.890625,1.1875,2.359375,3.53125,2.359375,1.421875,2.59375,3.765625}, float[8] bias =  {1.75,-0.25,-1.5,1,0,-1.25,-1.25,-1.375}, int64[1] r =  {-1}>
{
   [ReduceMean_0] m = ReduceMean <keepdims: int = 0> (x, r)
   [Sub_1] d = Sub (x, m)
   [Pow_2] q = Pow (d, two)
   [ReduceMean_3] v = ReduceMean (q, r)
   [Add_4] e = Add (v, eps)
   [Sqrt_5] s = Sqrt (e)
   [Div_6] n = Div (d, s)
   [Mul_7] g = Mul (n, scale)
   [Add_8] y = Add (g, bias)
}
""")
inputs = {
    'x': np.array([-1.25, 0.375, 0.25, 2.0, 0.25, -0.625, 1.125, -2.0, 1.25, 1.0, 0.625, -1.25, 0.375, 0.25, -2.0, 1.875, 0.0, -0.25, -0.125, 1.125, 0.25, -0.875, 1.75, 0.25, -0.875, 1.875, -0.625, -1.0, -0.75, 0.625, -1.5, -0.625, 1.625, -1.125, -1.5, -0.5, 0.5, 1.5, -0.75, -0.25, -1.125, -0.375, 0.25, 1.375, -1.625, 0.25, 1.125, -1.625, 1.875, 1.375, -1.375, -1.5, 0.0, 1.75, -0.5, 0.375, -0.125, 1.25, 1.0, 0.375, 2.0, -1.875, -0.5, -1.375], dtype=np.dtype('float32')).reshape((8, 8)),
}
expected = [
    np.array([-0.14779770374298096, -0.1469871997833252, -1.5292385816574097, 7.607922077178955, 0.5847718715667725, -1.7081358432769775, 0.5500130653381348, -7.628186225891113, 3.675095558166504, 0.4693682789802551, -0.8005694150924683, -1.5943174362182617, 0.8514806628227234, -0.7002028226852417, -6.0640482902526855, 4.158013343811035, 1.7145323753356934, -0.9851462841033936, -2.606529712677002, 7.293297290802002, 0.885223925113678, -2.3703064918518066, 3.421168327331543, -0.6685795783996582, 0.20281505584716797, 1.5060335397720337, -3.4307847023010254, -1.0786161422729492, -1.490430235862732, -0.14765596389770508, -5.420691967010498, -3.861891746520996, 4.216474533081055, -1.5886210203170776, -4.876832008361816, 0.5974637269973755, 1.0758049488067627, 0.7310166358947754, -3.352529525756836, -2.424285888671875, -0.07049190998077393, -0.892211377620697, -1.5311212539672852, 6.170254707336426, -3.112128257751465, -0.6873437166213989, 0.6659168004989624, -6.838742733001709, 4.473634243011475, 0.7706770896911621, -4.499042987823486, -2.12066912651062, 0.11424925178289413, 0.9188442230224609, -2.7571821212768555, -0.5544482469558716, 1.532092571258545, 0.708072304725647, -0.07989990711212158, 3.1254477500915527, 3.9883663654327393, -3.1801514625549316, -2.844385862350464, -5.908034324645996], dtype=np.dtype('float32')).reshape((8, 8)),
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
import pickle

import onnx.checker
import onnx.reference

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
    # Any evaluator will do in the place of onnx.reference that is right on the model before the change.
    outputs = onnx.reference.ReferenceEvaluator(model).run(names, inputs)
except Exception as error:
    print("the model that it made is invalid: ", error, flush=True)
    os._exit(104)
before = onnx.reference.ReferenceEvaluator(onnx.load_from_string(original)).run(names, inputs)
if pickle.dumps(before) == pickle.dumps(outputs):
    print("the model that it made has the values of the first", flush=True)
    os._exit(0)

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([2.058302956799508e-06, 1.0764864316507303e-06, 1.0464817205714845e-06, 4.903546285916121e-06, 1.9269223864900147e-06, 1.1414717437151407e-06, 2.0621828904159303e-06, 5.316520481342735e-06, 2.6462045765427485e-06, 1.4547532882040422e-06, 1.0531442453911675e-06, 4.143701872678924e-06, 2.1425051032880113e-06, 1.1291501766724965e-06, 3.485725287726747e-06, 5.08284702428051e-06, 2.270655351734214e-06, 1.7325123287805408e-06, 2.0151306992026527e-06, 5.170166121054039e-06, 2.733134573870797e-06, 1.569085905681632e-06, 4.551859639176555e-06, 5.414106794787412e-06, 1.6461568450500339e-06, 1.6266171990627277e-06, 1.8582889161252852e-06, 4.061871775961118e-06, 2.2899356737492735e-06, 1.5013982913267611e-06, 2.372234909788656e-06, 3.868336853882778e-06, 2.0853108983678703e-06, 1.1238281509259226e-06, 2.4777185548337135e-06, 3.503167605125618e-06, 2.2476563018518452e-06, 1.569085905681632e-06, 2.6702614765885016e-06, 3.7889993370325135e-06, 1.7104559960701161e-06, 1.3727682113156398e-06, 1.276986914016518e-06, 5.458952494552284e-06, 3.0555738491955506e-06, 1.3253659379816289e-06, 2.244097065569961e-06, 5.070250110181984e-06, 2.746991782618263e-06, 9.161487906539081e-07, 2.770173558860362e-06, 4.089330420266129e-06, 1.872792209483932e-06, 1.7428626438633735e-06, 2.541423512140255e-06, 3.7366871546198167e-06, 1.7127910906673684e-06, 1.2754210189897215e-06, 2.094872208927866e-06, 3.4488382676814633e-06, 2.7528055283440325e-06, 1.5172865463921851e-06, 2.9327665806156502e-06, 5.107947656066072e-06], dtype=np.dtype('float64')).reshape((8, 8))]


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
