// What the packages onnxruntime-node and onnxruntime-web have in common: one JavaScript interface, two runtimes.
//
// Numbers of 64 bits are BigInts, float16 is its bits in 16-bit integers, int4 and uint4 are packed as in raw_data.
// The interface passes tensors of the types in TENSOR_TYPES, and nothing else.

import { Buffer } from "node:buffer";
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";

import { ELEMENT_TYPES, STRING, elementType, isTrap, serve } from "./protocol.mjs";

/** Tensor types by number: the name in JavaScript, and the type of array for the elements. */
const TENSOR_TYPES = new Map([
  [1, ["float32", Float32Array]], [2, ["uint8", Uint8Array]], [3, ["int8", Int8Array]], [4, ["uint16", Uint16Array]],
  [5, ["int16", Int16Array]], [6, ["int32", Int32Array]], [7, ["int64", BigInt64Array]], [STRING, ["string", Array]],
  [9, ["bool", Uint8Array]], [10, ["float16", Uint16Array]], [11, ["float64", Float64Array]],
  [12, ["uint32", Uint32Array]], [13, ["uint64", BigUint64Array]],
  [21, ["uint4", Uint8Array]], [22, ["int4", Uint8Array]],
]);
const NUMBERS = new Map([...TENSOR_TYPES].map(([number, [name]]) => [name, number]));

/** The interface has no way to pass a value. */
export class NoTypeError extends Error {
  name = "NoTypeError";
}

/** The runtime gave what its own interface does not describe. */
export class AnswerError extends Error {
  name = "AnswerError";
}

/** What the web throws as a number: the address of an exception, which is another one each time. */
export class CppException extends Error {
  name = "CppException";

  constructor() {
    super("a C++ exception came out of WebAssembly, which the interface around it does not translate");
  }
}

// The messages are those of one C++ library; the web's have a code before them.
const NO_TENSOR = /^Non tensor type is temporarily not|Reading data from non-tensor typed value is not supported\.$/;
const NO_TYPE = "no way to pass this type";
export const OPT_OUTS = [
  ["NoTypeError", /(?:)/, NO_TYPE],
  ["Error", /^[Uu]nsupported data type: \d+$/, NO_TYPE], // By the JavaScript around it, of an input or output.
  ["Error", NO_TENSOR, NO_TYPE],
  ["TypeError", /^Tensor\.type is not supported: u?int4$/, NO_TYPE],
  ["Error", /^unsupported type: u?int4$/, NO_TYPE], // Of an output; the web takes such inputs.
  ["Error", /Unsupported model IR version: /, "newer IR version than it knows"],
  ["Error", /is under development and support for this is limited/, "newer opset than it knows"],
  ["Error", /No Op registered for /, "no such operator in its schemas"],
  ["Error", /is not a registered function\/op/, "no such operator in its schemas"],
  ["Error", /MLDataType for: .* is not currently registered or supported/, "no such element type"],
  ["Error", /Invalid tensor data type (2[4-9]|[3-9]\d)\./, "no such element type"],
  ["Error", /Could not find an implementation for |Failed to find kernel for |ERROR_CODE: 9, /, "no kernel"],
  ["Error", /In Node, \("InsertedPrecisionFreeCast_|in .InsertedPrecisionFreeCast_/, "float16 in an opset below those that it supports"],
  ["Error", /Unsupported value attribute datatype: \d+\s*$/, "no kernel"],
  ["Error", /Currently do not support dims higher than 2|Unsupported sparse tensor data type/, "no such sparse tensor"],
  ["Error", /Batchwise recurrent operations \(layout == 1\) are not supported/, "no kernel"],
  ["Error", /(GRU|LSTM|RNN) operator does not support double yet/, "no kernel"],
  ["Error", /Status Message: Unsupported pooling size|Dilation not supported for AutoPadType::/, "no kernel"],
  ["Error", /Failed to construct locale with name/, "a locale is missing on this machine"],
];

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
    session: (model) => load(ort, options, model),
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

async function load(ort, options, model) {
  try {
    const session = await ort.InferenceSession.create(model, options);
    return (inputs, outputs) => run(ort, session, inputs, outputs);
  } catch (error) {
    throw typeof error === "number" ? new CppException() : error;
  }
}

async function run(ort, session, inputs, outputs) {
  let answers;
  try {
    const feeds = Object.create(null);
    for (const [name, value] of inputs) feeds[name] = toTensor(ort, value);
    const results = outputs.length ? await session.run(feeds, outputs) : await session.run(feeds);
    answers = outputs.map((name) => fromTensor(results[name]));
  } catch (error) {
    const declared = session.outputMetadata?.filter(({ name }) => outputs.includes(name)) ?? [];
    if (!isTrap(error)) await session.release();
    if (typeof error === "number") throw new CppException();
    if (NO_TENSOR.test(error.message) && declared.length && declared.every(({ isTensor }) => isTensor)) {
      throw new AnswerError(`gave what is no tensor, where the graph declares one: ${error.message}`);
    }
    throw error;
  }
  await session.release();
  return answers;
}

function toTensor(ort, { kind, type, shape, data, strings, item }) {
  if (kind === "optional" && item !== null) return toTensor(ort, item);
  if (kind !== "tensor") throw new NoTypeError(`the JavaScript interface passes tensors, and no ${kind}`);
  if (!TENSOR_TYPES.has(type)) {
    throw new NoTypeError(`the JavaScript interface passes no tensor of ${elementType(type).name}`);
  }
  const [name, Elements] = TENSOR_TYPES.get(type);
  if (type === STRING) {
    if (!strings.every((text) => text.isWellFormed())) {
      throw new NoTypeError("the JavaScript interface passes no string with bytes that are not UTF-8");
    }
    return new ort.Tensor(name, strings, shape);
  }
  return new ort.Tensor(name, new Elements(data.buffer), shape);
}

function fromTensor(tensor) {
  const { type: name, dims, data } = tensor ?? {};
  const type = NUMBERS.get(name);
  if (type === undefined) throw new AnswerError(`gave an output that is no tensor of a type it has: ${name}`);
  const shape = Array.from(dims, Number);
  if (type === STRING) return { kind: "tensor", type, shape, strings: data };
  return { kind: "tensor", type, shape, data };
}
