// SPDX-License-Identifier: Apache-2.0
// The adapter code that the packages onnxruntime-node and onnxruntime-web have in common: loading the package, its hello,
// and serving it. onnxruntime_tensors.mjs has the interface of both.

import { Buffer } from "node:buffer";
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";

import { OPT_OUTS, TENSOR_TYPES, load as loadModel } from "./onnxruntime_tensors.mjs";
import { ELEMENT_TYPES, serve } from "./protocol.mjs";

/** The package from the folder `FOLDER/node_modules`. */
function loaded(folder, name) {
  const require = createRequire(path.join(path.resolve(folder), "package.json"));
  try {
    const { version } = JSON.parse(fs.readFileSync(path.join(folder, "node_modules", name, "package.json"), "utf8"));
    return { ort: require(name), version };
  } catch (error) {
    const [why] = String(error.message).split("\n"); // The lines after it name the requiring file.
    const advice = "if the harness made that folder, delete it, and it is made again";
    throw new Error(`cannot load ${name} from ${path.resolve(folder)}: ${why}; ${advice}`);
  }
}

// y = Neg(x) in opset 13, the model of README.md.
const NEG =
  "08083a320a0b0a017812017922034e65671201675a0f0a0178120a0a08080112040a0208" +
  "02620f0a0179120a0a08080112040a02080242040a00100d";

/** Loads a model, so that a failure of the runtime itself is reported before the first case, not as that of a case. */
async function tried(ort, options) {
  const session = await ort.InferenceSession.create(Buffer.from(NEG, "hex"), options);
  await session.release();
}

/** The Python lines that call a package without this project and return its outputs. */
const repro = (name, version, options) => `# In this folder: npm install --ignore-scripts ${name}@${version}
import base64
import json
import subprocess

PROGRAM = """
const fs = require("node:fs");
const ort = require("${name}");
if (ort.env.wasm) ort.env.wasm.numThreads = 1;
const arrays = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, bool: Uint8Array, int4: Uint8Array,
  uint4: Uint8Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array,
  uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
};
const bytes = (text) => new Uint8Array(Buffer.from(text, "base64"));
const request = JSON.parse(fs.readFileSync(0, "utf8"));
(async () => {
  const session = await ort.InferenceSession.create(bytes(request.model), ${JSON.stringify(options)});
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
`;

/** An adapter of a package: what protocol.mjs serves. */
function adapter({ ort, name, version, options, lacks = [] }) {
  const types = ELEMENT_TYPES.filter(({ number }) => TENSOR_TYPES.has(number)).map((row) => row.name);
  return {
    name: name.replaceAll("-", "_"),
    OPT_OUTS,
    info: () => ({
      runtime: name,
      version,
      repro: repro(name, version, options),
      types: types.filter((type) => !lacks.includes(type)),
      containers: ["optional"], // One that holds a tensor, which is passed as that tensor.
    }),
    session: (model) => loadModel(ort, options, model),
  };
}

/**
 * Serves a package, as serve_node.py starts it: `name` of the package, `provider` of its sessions, the names of types
 * that it `lacks` as inputs, and `prepare`, what is set before the first session.
 */
export async function main({ name, provider, lacks = [], prepare = () => {} }) {
  const [folder = ".", requests = 0, answers = 1] = process.argv.slice(2);
  const options = {
    executionProviders: [provider],
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 4, // What it logs of an error it throws as well.
  };
  const load = async () => {
    const { ort, version } = loaded(folder, name);
    ort.env.logLevel = "fatal";
    prepare(ort);
    await tried(ort, options);
    return adapter({ ort, name, version, options, lacks });
  };
  await serve(load, Number(requests), Number(answers));
}
