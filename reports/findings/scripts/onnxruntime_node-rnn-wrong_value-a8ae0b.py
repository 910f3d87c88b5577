"""RNN: 0.0 expected, 0.13553944 came

The text: «Default values are the same as of corresponding ONNX operators.»
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
   ir_version: 10,
   opset_import: ["" : 22],
   producer_name: "onnx-conformance"
>
RNN_22_activation_thresholdedrelu_default (float[1,1,1] X, float[1,1,1] W, float[1,1,1] R) => (float[1,1,1,1] Y) {
   [RNN] Y = RNN <activations: strings = ["ThresholdedRelu"], hidden_size: int = 1> (X, W, R)
}
""")
inputs = {
    'X': np.array([-0.9096666574478149], dtype=np.dtype('float32')).reshape((1, 1, 1)),
    'W': np.array([-0.14899902045726776], dtype=np.dtype('float32')).reshape((1, 1, 1)),
    'R': np.array([0.0], dtype=np.dtype('float32')).reshape((1, 1, 1)),
}
expected = [
    np.array([0.0], dtype=np.dtype('float32')).reshape((1, 1, 1, 1)),
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
BOUNDS = [np.array([0.0], dtype=np.dtype('float64')).reshape((1, 1, 1, 1))]


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
