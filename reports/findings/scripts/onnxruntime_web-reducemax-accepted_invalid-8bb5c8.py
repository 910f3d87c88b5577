"""ReduceMax with axes has a negative value: float[] 0 where the text demands a refusal

The text: «Accepted range is [-r, r-1] where r = rank(data).»
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
   ir_version: 8,
   opset_import: ["" : 18],
   producer_name: "onnx-conformance"
>
ReduceMax_18_rank0_axis_too_low (float data, int64[1] axes) => (float reduced) {
   [ReduceMax] reduced = ReduceMax (data, axes)
}
""")
inputs = {
    'data': np.array([0.0], dtype=np.dtype('float32')).reshape(()),
    'axes': np.array([0], dtype=np.dtype('int64')).reshape((1,)),
}
print('expected: to be refused: «Accepted range is [-r, r-1] where r = rank(data).»')

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
    os._exit(0)

print("got:     ", outputs)
print("an answer, where the text forbids one", flush=True)
os._exit(103)
