"""Attention: refused (...Type parameter (T) of Optype (MatMul) bound to different types (tensor(double) and tensor(float) in node ().), double[1,1,21] -0.669748 -1.2447 0.990492 0.989457 -1.24546 -0.668515... expected

The text: «Constrain Q and K inputs types to float tensors.»
Exit status: 1 while the fault is there, 0 when it is gone, 2 where that cannot be seen.
Needs: pip install onnx==1.23.2 and onnxruntime-node 1.30.0
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
    'V': np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((1, 1, 21)),
    'past_key': np.array([-0.7578125, 1.3828125, 0.40234375, -1.484375, -0.0198974609375, 0.828125, 1.1328125, -1.1171875, -0.84375, 1.3359375, 1.484375, -0.3828125, -1.390625, 0.7421875, 1.1953125], dtype=np.dtype('float64')).reshape((1, 3, 1, 5)),
    'past_value': np.array([-1.3394951820373535, -2.489392042160034, 1.980984091758728, 1.9789143800735474, -2.4909284114837646, -1.3370295763015747, 2.8354663848876953, 1.4102157354354858, -2.8075122833251953, -0.6867507696151733, 2.984480381011963, -0.08231696486473083, -2.963268280029297, 0.8459185361862183, 2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043, -1.8544113636016846], dtype=np.dtype('float32')).reshape((1, 3, 1, 7)),
}
expected = [
    np.array([-0.6697475910186768, -1.244696021080017, 0.990492045879364, 0.9894571900367737, -1.2454642057418823, -0.6685147881507874, 1.4177331924438477, 0.7051078677177429, -1.4037561416625977, -0.34337538480758667, 1.4922401905059814, -0.04115848243236542, -1.4816341400146484, 0.42295926809310913, 1.4874972105026245, -0.3833116590976715, -1.3887220621109009, 0.7411700487136841, 1.1977306604385376, -1.0498120784759521, -0.9272056818008423], dtype=np.dtype('float64')).reshape((1, 1, 21)),
    np.array([-0.7578125, 1.3828125, 0.40234375, -1.484375, -0.0198974609375, 0.0, 0.0, 0.0, 0.0, 0.0, 0.828125, 1.1328125, -1.1171875, -0.84375, 1.3359375, 0.0, 0.0, 0.0, 0.0, 0.0, 1.484375, -0.3828125, -1.390625, 0.7421875, 1.1953125, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float64')).reshape((1, 3, 2, 5)),
    np.array([-1.3394951820373535, -2.489392042160034, 1.980984091758728, 1.9789143800735474, -2.4909284114837646, -1.3370295763015747, 2.8354663848876953, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.4102157354354858, -2.8075122833251953, -0.6867507696151733, 2.984480381011963, -0.08231696486473083, -2.963268280029297, 0.8459185361862183, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.974994421005249, -0.766623318195343, -2.7774441242218018, 1.4823400974273682, 2.395461320877075, -2.0996241569519043, -1.8544113636016846, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float32')).reshape((1, 3, 2, 7)),
]
print("expected:", expected)

try:
    # In this folder: npm install --ignore-scripts onnxruntime-node@1.30.0
    import base64
    import json
    import subprocess
    
    PROGRAM = """
    const fs = require("node:fs");
    const ort = require("onnxruntime-node");
    if (ort.env.wasm) ort.env.wasm.numThreads = 1;
    const arrays = {
      float32: Float32Array, float64: Float64Array, float16: Uint16Array, bool: Uint8Array, int4: Uint8Array,
      uint4: Uint8Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array,
      uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
    };
    const bytes = (text) => new Uint8Array(Buffer.from(text, "base64"));
    const request = JSON.parse(fs.readFileSync(0, "utf8"));
    (async () => {
      const session = await ort.InferenceSession.create(bytes(request.model), {"executionProviders":["cpu"],"intraOpNumThreads":1,"interOpNumThreads":1,"logSeverityLevel":4});
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
BOUNDS = [np.array([7.109880713502405e-07, 1.2159726336984628e-06, 9.914968346730906e-07, 9.626687491199377e-07, 1.1832215475489748e-06, 6.740575195754833e-07, 1.3968722267015554e-06, 7.960908507278321e-07, 1.2346564255712306e-06, 4.1275592830830845e-07, 1.73620594406419e-06, 4.866626512062627e-08, 1.7037041413215527e-06, 4.674721204410159e-07, 1.7786555224167625e-06, 4.929563877720003e-07, 1.5003611236385436e-06, 8.594677896470355e-07, 1.2716861285701338e-06, 1.3269051024228181e-06, 1.0431282433876972e-06], dtype=np.dtype('float64')).reshape((1, 1, 21)), np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float64')).reshape((1, 3, 2, 5)), np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.dtype('float64')).reshape((1, 3, 2, 7))]


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
