"""Erf: 0.5204999 expected, 0.5205001 came

The text: «The error function of the input tensor computed element-wise. It has the same shape and type»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and openvino 2026.4.1
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
   ir_version: 4,
   opset_import: ["" : 9],
   producer_name: "onnx-conformance"
>
Erf_9_vector_and_tail (float[51] input) => (float[51] output) {
   [Erf] output = Erf (input)
}
""")
inputs = {
    'input': np.array([1.0, -1.25, 0.5, 0.375, -0.75, 2.75, 0.0625, 1.0, -1.25, 0.5, 0.375, -0.75, 2.75, 0.0625, 1.0, -1.25, 0.5, 0.375, -0.75, 2.75, 0.0625, 1.0, -1.25, 0.5, 0.375, -0.75, 2.75, 0.0625, 1.0, -1.25, 0.5, 0.375, -0.75, 2.75, 0.0625, 1.0, -1.25, 0.5, 0.375, -0.75, 2.75, 0.0625, 1.0, -1.25, 0.5, 0.375, -0.75, 2.75, 0.0625, 1.0, -1.25], dtype=np.dtype('float32')).reshape((51,)),
}
expected = [
    np.array([0.8427007794380188, -0.9229001402854919, 0.5204998850822449, 0.4041168987751007, -0.7111556529998779, 0.9998993873596191, 0.07043197751045227, 0.8427007794380188, -0.9229001402854919, 0.5204998850822449, 0.4041168987751007, -0.7111556529998779, 0.9998993873596191, 0.07043197751045227, 0.8427007794380188, -0.9229001402854919, 0.5204998850822449, 0.4041168987751007, -0.7111556529998779, 0.9998993873596191, 0.07043197751045227, 0.8427007794380188, -0.9229001402854919, 0.5204998850822449, 0.4041168987751007, -0.7111556529998779, 0.9998993873596191, 0.07043197751045227, 0.8427007794380188, -0.9229001402854919, 0.5204998850822449, 0.4041168987751007, -0.7111556529998779, 0.9998993873596191, 0.07043197751045227, 0.8427007794380188, -0.9229001402854919, 0.5204998850822449, 0.4041168987751007, -0.7111556529998779, 0.9998993873596191, 0.07043197751045227, 0.8427007794380188, -0.9229001402854919, 0.5204998850822449, 0.4041168987751007, -0.7111556529998779, 0.9998993873596191, 0.07043197751045227, 0.8427007794380188, -0.9229001402854919], dtype=np.dtype('float32')).reshape((51,)),
]
print("expected:", expected)

try:
    import openvino
    
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU")
    request = compiled.create_infer_request()
    names = {name for port in compiled.inputs for name in port.names}
    request.infer({name: value for name, value in inputs.items() if name in names})
    outputs = [request.get_tensor(value.name).data.copy() for value in model.graph.output]
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([3.095909640245246e-07, 4.022900920008707e-07, 3.4220007977175655e-07, 3.303613476935282e-07, 3.441406149200032e-07, 2.217014906789483e-07, 2.909916758054289e-07, 2.493996469479876e-07, 2.167553718421426e-07, 4.0296894726414225e-07, 3.0984638326620117e-07, 2.344705101677592e-07, 2.6963290235156463e-07, 3.4722748424351075e-07, 2.278489463242418e-07, 3.207577232245316e-07, 2.4321619662986375e-07, 3.4257297175605526e-07, 2.846267348738963e-07, 2.4329705034767315e-07, 2.9153205099548033e-07, 2.6080890556664685e-07, 2.802847982323508e-07, 2.5327156568439474e-07, 3.383190328679096e-07, 3.2354957620025924e-07, 3.342059847582639e-07, 2.8375232877497507e-07, 3.046748374137767e-07, 3.377062380767338e-07, 2.9887442482528176e-07, 2.606036736926805e-07, 2.523451710266176e-07, 2.623477082361568e-07, 2.1271420585353235e-07, 2.612530783469284e-07, 3.0513355219597293e-07, 2.6230795535460396e-07, 2.765115836764643e-07, 2.951399078680952e-07, 2.667536154554812e-07, 3.2694400499701803e-07, 2.891296788551629e-07, 2.39925842937701e-07, 1.9535924236759605e-07, 2.7019290269206923e-07, 2.3354751225908234e-07, 3.6843254368285825e-07, 3.022900252766336e-07, 3.147325146303811e-07, 2.485887609129728e-07], dtype=np.dtype('float64')).reshape((51,))]


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
