"""Attention: refused (...Type parameter (T) of Optype (MatMul) bound to different types (tensor(double) and tensor(float) in node ().), double[1,1,21] 0.81775 -1.62801 -0.39823 1.73063 -0.0477335 -1.71833 0... expected

The text: «Constrain Q and K inputs types to float tensors.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxruntime-web 1.30.0
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
Attention_23_signature_types_t1 (double[1,1,15] Q, double[1,1,15] K, float[1,1,21] V, double[1,3,1,5] past_key, float[1,3,1,7] past_value) => (double[1,1,21] Y, double[1,3,2,5] present_key, float[1,3,2,7] present_value) {
   [Attention] Y, present_key, present_value = Attention <kv_num_heads: int = 3, q_num_heads: int = 3> (Q, K, V, "", past_key, past_value)
}
""")
inputs = {
    'Q': np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float64')).reshape((1, 1, 15)),
    'K': np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float64')).reshape((1, 1, 15)),
    'V': np.array([2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043, -1.8544113636016846, 2.5774855613708496, 1.1902216672897339, -2.88419246673584, -0.4469970762729645, 2.9993786811828613, -0.3259097933769226, -2.9153952598571777, 1.0771750211715698, 2.637819290161133, -1.7569119930267334, -2.185082197189331, 2.319983720779419, 1.5872480869293213, -2.7290000915527344], dtype=np.dtype('float32')).reshape((1, 1, 21)),
    'past_key': np.array([-0.7578125, 1.3828125, 0.40234375, -1.484375, -0.0198974609375, 0.828125, 1.1328125, -1.1171875, -0.84375, 1.3359375, 1.484375, -0.3828125, -1.390625, 0.7421875, 1.1953125], dtype=np.dtype('float64')).reshape((1, 3, 1, 5)),
    'past_value': np.array([-1.3394951820373535, -2.489392042160034, 1.980984091758728, 1.9789143800735474, -2.4909284114837646, -1.3370295763015747, 2.8354663848876953, 1.4102157354354858, -2.8075122833251953, -0.6867507696151733, 2.984480381011963, -0.08231696486473083, -2.963268280029297, 0.8459185361862183, 2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043, -1.8544113636016846], dtype=np.dtype('float32')).reshape((1, 3, 1, 7)),
}
expected = [
    np.array([0.8177496194839478, -1.6280076801776886, -0.39823001623153687, 1.7306272387504578, -0.04773354530334473, -1.7183268666267395, 0.49052751064300537, 1.9938506484031677, -0.8086453080177307, -1.7854716181755066, 1.2687416523694992, 1.4585308581590652, -1.6445890367031097, -1.0347383618354797, 2.0260847210884094, 0.9355979859828949, -2.2671780586242676, -0.35137104988098145, 2.357722520828247, -0.2561880350112915, -2.2917057275772095], dtype=np.dtype('float64')).reshape((1, 1, 21)),
    np.array([-0.7578125, 1.3828125, 0.40234375, -1.484375, -0.0198974609375, 0.0, 0.0, 0.0, 0.0, 0.0, 0.828125, 1.1328125, -1.1171875, -0.84375, 1.3359375, 0.0, 0.0, 0.0, 0.0, 0.0, 1.484375, -0.3828125, -1.390625, 0.7421875, 1.1953125, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float64')).reshape((1, 3, 2, 5)),
    np.array([-1.3394951820373535, -2.489392042160034, 1.980984091758728, 1.9789143800735474, -2.4909284114837646, -1.3370295763015747, 2.8354663848876953, 2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043, -1.8544113636016846, 1.4102157354354858, -2.8075122833251953, -0.6867507696151733, 2.984480381011963, -0.08231696486473083, -2.963268280029297, 0.8459185361862183, 2.5774855613708496, 1.1902216672897339, -2.88419246673584, -0.4469970762729645, 2.9993786811828613, -0.3259097933769226, -2.9153952598571777, 2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043, -1.8544113636016846, 1.0771750211715698, 2.637819290161133, -1.7569119930267334, -2.185082197189331, 2.319983720779419, 1.5872480869293213, -2.7290000915527344], dtype=np.dtype('float32')).reshape((1, 3, 2, 7)),
]
print("expected:", expected)

try:
    # In this folder: npm install --ignore-scripts onnxruntime-web@1.30.0
    import base64
    import json
    import subprocess
    
    PROGRAM = """
    const fs = require("node:fs");
    const ort = require("onnxruntime-web");
    if (ort.env.wasm) ort.env.wasm.numThreads = 1;
    const arrays = {
      float32: Float32Array, float64: Float64Array, float16: Uint16Array, bool: Uint8Array, int4: Uint8Array,
      uint4: Uint8Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array,
      uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
    };
    const bytes = (text) => new Uint8Array(Buffer.from(text, "base64"));
    const request = JSON.parse(fs.readFileSync(0, "utf8"));
    (async () => {
      const session = await ort.InferenceSession.create(bytes(request.model), {"executionProviders":["wasm"],"intraOpNumThreads":1,"interOpNumThreads":1,"logSeverityLevel":4,"extra":{"session":{"use_ort_model_bytes_directly":"1"}}});
      const feeds = {};
      for (const [name, { type, dims, data }] of Object.entries(request.inputs)) {
        feeds[name] = new ort.Tensor(type, type === "string" ? data : new arrays[type](bytes(data).buffer), dims);
      }
      const results = await session.run(feeds);
      const outputs = request.outputs.map((name) => {
        const { type, dims, data } = results[name];
        const text = () => Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
        return { type, dims, data: type === "string" ? data : text() };
      });
      fs.writeFileSync(3, JSON.stringify(outputs));
    })();
    """
    
    
    def described(array):
        tensor = onnx.numpy_helper.from_array(array)
        strings = tensor.data_type == onnx.TensorProto.STRING
        data = array.reshape(-1).tolist() if strings else base64.b64encode(tensor.raw_data).decode()
        return {"type": "string" if strings else array.dtype.name, "dims": array.shape, "data": data}
    
    
    def array_of(described):
        if described["type"] == "string":
            return np.array(described["data"], dtype=object).reshape(described["dims"])
        return np.frombuffer(base64.b64decode(described["data"]), described["type"]).reshape(described["dims"])
    
    
    request = {
        "model": base64.b64encode(model.SerializeToString()).decode(),
        "inputs": {name: described(array) for name, array in inputs.items()},
        "outputs": [value.name for value in model.graph.output],
    }
    command = ["sh", "-c", 'exec 3>&1 1>&2; exec node -e "$0"', PROGRAM]  # What the runtime prints is no answer.
    done = subprocess.run(command, input=json.dumps(request).encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    errors = done.stderr.decode()
    if done.returncode == 127 or "MODULE_NOT_FOUND" in errors:
        raise ImportError(errors)
    if done.returncode < 0:
        raise SystemExit(f"{errors} ended by signal {-done.returncode}")
    if done.returncode:
        raise RuntimeError(errors)
    outputs = [array_of(value) for value in json.loads(done.stdout)]
except (ImportError, FileNotFoundError):  # There is no runtime to ask.
    raise
except Exception as error:
    print("refused: ", error, flush=True)
    os._exit(102)

print("got:     ", outputs)
RTOL, ATOL, ULP = (0, 0, 0)
EPS = {}  # One unit in the last place, beside 1.
BOUNDS = [np.array([1.7050585608282026e-06, 1.0339317729407688e-06, 1.8745104117731833e-06, 7.239197495093752e-07, 1.9417216671591574e-06, 5.584371559339189e-07, 1.9912769064711042e-06, 1.190410986664824e-06, 1.7603134162419228e-06, 1.466427167866341e-06, 1.9172939464980656e-06, 1.7226561494900688e-06, 1.5707719643588095e-06, 2.1472677312704035e-06, 1.4607091900293448e-06, 1.6618511479033696e-06, 1.1511058215779106e-06, 1.7026014641763292e-06, 1.0516359829520577e-06, 1.892582470958372e-06, 8.898195743294908e-07], dtype=np.dtype('float64')).reshape((1, 1, 21)), np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float64')).reshape((1, 3, 2, 5)), np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float64')).reshape((1, 3, 2, 7))]


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
