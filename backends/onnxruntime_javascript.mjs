// SPDX-License-Identifier: Apache-2.0
// The adapter code that the packages onnxruntime-node and onnxruntime-web have in common: loading the package, its hello,
// and serving it. onnxruntime_tensors.mjs has the interface of both.

import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";

import { OPT_OUTS, TENSOR_TYPES, load as loadModel, tryOut } from "./onnxruntime_tensors.mjs";
import { ELEMENT_TYPES, serve } from "./protocol.mjs";

/** The version of a package in the folder `FOLDER/node_modules`, and what `load` makes of FOLDER. */
export function loaded(folder, name, load) {
  try {
    const { version } = JSON.parse(fs.readFileSync(path.join(folder, "node_modules", name, "package.json"), "utf8"));
    return { made: load(path.resolve(folder)), version };
  } catch (error) {
    const [why] = String(error.message).split("\n"); // The lines after it name the requiring file.
    const advice = "if the harness made that folder, delete it, and it is made again";
    throw new Error(`cannot load ${name} from ${path.resolve(folder)}: ${why}; ${advice}`);
  }
}

/** Parts of scripts: in JavaScript, the arrays of tensors by type and the inputs; in Python, the request to JavaScript. */
export const ARRAYS = `const arrays = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, bool: Uint8Array, int4: Uint8Array,
  uint4: Uint8Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array,
  uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
};
`;
export const FEEDS = `  const feeds = {};
  for (const [name, { type, dims, data }] of Object.entries(request.inputs)) {
    feeds[name] = new ort.Tensor(type, type === "string" ? data : new arrays[type](bytes(data).buffer), dims);
  }
`;
export const REQUEST = `def described(array):
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
`;

/** The Python lines that call a package without this project and return its outputs. */
const repro = (name, version, options) => `# In this folder: npm install --ignore-scripts ${name}@${version}
import base64
import json
import subprocess

PROGRAM = """
const fs = require("node:fs");
const ort = require("${name}");
if (ort.env.wasm) ort.env.wasm.numThreads = 1;
${ARRAYS}const bytes = (text) => new Uint8Array(Buffer.from(text, "base64"));
const request = JSON.parse(fs.readFileSync(0, "utf8"));
(async () => {
  const session = await ort.InferenceSession.create(bytes(request.model), ${JSON.stringify(options)});
${FEEDS}  const results = await session.run(feeds);
  const outputs = request.outputs.map((name) => {
    const { type, dims, data } = results[name];
    const text = () => Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
    return { type, dims, data: type === "string" ? data : text() };
  });
  fs.writeFileSync(3, JSON.stringify(outputs));
})();
"""


${REQUEST}command = ["sh", "-c", 'exec 3>&1 1>&2; exec node -e "$0"', PROGRAM]  # What the runtime prints is no answer.
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

/** The options of the sessions of every package. */
export const optionsOf = (provider) => ({
  executionProviders: [provider],
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 4, // What it logs of an error it throws as well.
});

/**
 * An adapter of a package: what protocol.mjs serves.
 *
 * It has the `name` of the package, that of the `runtime` in results, its `version`, the lines `repro` of scripts, the
 * function `session` that loads a model, the names of types that it `lacks` as inputs, and more rows of OPT_OUTS.
 */
export function adapter({ name, runtime = name, version, repro, session, lacks = [], optOuts = [] }) {
  const types = ELEMENT_TYPES.filter(({ number }) => TENSOR_TYPES.has(number)).map((row) => row.name);
  return {
    name: name.replaceAll("-", "_"),
    OPT_OUTS: [...optOuts, ...OPT_OUTS],
    info: () => ({
      runtime,
      version,
      repro,
      types: types.filter((type) => !lacks.includes(type)),
      containers: ["optional"], // One that holds a tensor, which is passed as that tensor.
    }),
    session,
  };
}

/** Serves the adapter that `load` makes of the folder of a package, as serve_node.py starts it. */
export async function served(load) {
  const [folder = ".", requests = 0, answers = 1] = process.argv.slice(2);
  await serve(() => load(folder), Number(requests), Number(answers));
}

/**
 * Serves a package in Node.js: `name` of the package, `provider` of its sessions, the names of types that it `lacks` as
 * inputs, and `prepare`, what is set before the first session.
 */
export async function main({ name, provider, lacks = [], prepare = () => {} }) {
  const options = optionsOf(provider);
  await served(async (folder) => {
    const { made: ort, version } = loaded(folder, name, (at) => createRequire(path.join(at, "package.json"))(name));
    ort.env.logLevel = "fatal";
    prepare(ort);
    await tryOut(ort, options);
    const session = (model) => loadModel(ort, options, model);
    return adapter({ name, version, repro: repro(name, version, options), session, lacks });
  });
}
