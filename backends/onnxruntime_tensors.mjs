// SPDX-License-Identifier: Apache-2.0
/**
 * The interface that the packages onnxruntime-node and onnxruntime-web have in common: sessions, and tensors.
 *
 * Numbers of 64 bits are BigInts, float16 is its bits in 16-bit integers, int4 and uint4 are packed as in raw_data. The
 * interface passes tensors of the types in TENSOR_TYPES, and nothing else.
 *
 * This module works in Node.js and in browsers.
 *
 * @module onnxruntime_tensors
 */

import { isTrap } from "./runtime_errors.mjs";
import { STRING, elementType } from "./values.mjs";

/** @typedef {import("./values.mjs").Value} Value */
/** @typedef {import("./runtime_errors.mjs").OptOut} OptOut */

/**
 * Tensor types by number of the element type: the name in JavaScript, and the array for the elements.
 *
 * @type {Map<number, [string, any]>}
 */
export const TENSOR_TYPES = new Map(/** @type {[number, [string, any]][]} */ ([
  [1, ["float32", Float32Array]], [2, ["uint8", Uint8Array]], [3, ["int8", Int8Array]], [4, ["uint16", Uint16Array]],
  [5, ["int16", Int16Array]], [6, ["int32", Int32Array]], [7, ["int64", BigInt64Array]], [STRING, ["string", Array]],
  [9, ["bool", Uint8Array]], [10, ["float16", Uint16Array]], [11, ["float64", Float64Array]],
  [12, ["uint32", Uint32Array]], [13, ["uint64", BigUint64Array]],
  [21, ["uint4", Uint8Array]], [22, ["int4", Uint8Array]],
]));
const NUMBERS = new Map([...TENSOR_TYPES].map(([number, [name]]) => [name, number]));

/** The interface cannot pass a value. */
export class NoTypeError extends Error {
  name = "NoTypeError";
}

/** The runtime returned a value that its interface does not describe. */
export class AnswerError extends Error {
  name = "AnswerError";
}

/** The package for browsers throws the address of a C++ exception, a number that is different each time. */
export class CppException extends Error {
  name = "CppException";

  constructor() {
    super("a C++ exception came out of WebAssembly, which the interface around it does not translate");
  }
}

// Both packages have the messages of one C++ library; in those of the web, a code precedes them.
const NO_TENSOR = /^Non tensor type is temporarily not|Reading data from non-tensor typed value is not supported\.$/;
const NO_TYPE = "no way to pass this type";
/**
 * The errors with which the runtime reports missing support.
 *
 * @type {OptOut[]}
 */
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
  ["Error", /Provider type for .* node with name .* is not set\.\s*$/, "no kernel"], // Of the build with WebGPU.
  ["Error", /In Node, \("InsertedPrecisionFreeCast_|in .InsertedPrecisionFreeCast_/, "float16 in an opset below those that it supports"],
  ["Error", /Unsupported value attribute datatype: \d+\s*$/, "no kernel"],
  ["Error", /Currently do not support dims higher than 2|Unsupported sparse tensor data type/, "no such sparse tensor"],
  ["Error", /Batchwise recurrent operations \(layout == 1\) are not supported/, "no kernel"],
  ["Error", /(GRU|LSTM|RNN) operator does not support double yet/, "no kernel"],
  ["Error", /Status Message: Unsupported pooling size|Dilation not supported for AutoPadType::/, "no kernel"],
  ["Error", /Failed to construct locale with name/, "a locale is missing on this machine"],
];

// y = Neg(x) in opset 13, the model of README.md.
const NEG =
  "08083a320a0b0a017812017922034e65671201675a0f0a0178120a0a08080112040a0208" +
  "02620f0a0179120a0a08080112040a02080242040a00100d";

/**
 * Load a model, so that a failure of the runtime itself is reported before the first case, not as that of a case.
 *
 * @param {any} ort - the package
 * @param {object} options - of its sessions
 */
export async function tryOut(ort, options) {
  const bytes = /** @type {string[]} */ (NEG.match(/../g)).map((pair) => Number.parseInt(pair, 16));
  const session = await ort.InferenceSession.create(Uint8Array.from(bytes), options);
  await session.release();
}

/**
 * Load a model.
 *
 * @param {any} ort - the package
 * @param {object} options - of its sessions
 * @param {Uint8Array} model - a serialized ModelProto
 * @returns {Promise<(inputs: Map<string, Value>, outputs: string[]) => Promise<Value[]>>} runs the model once, and
 *   releases it
 * @throws {CppException} the runtime threw a number
 * @throws {Error} any other error of the runtime
 */
export async function load(ort, options, model) {
  try {
    const session = await ort.InferenceSession.create(model, options);
    return (inputs, outputs) => run(ort, session, inputs, outputs);
  } catch (error) {
    throw typeof error === "number" ? new CppException() : error;
  }
}

/**
 * @param {any} ort
 * @param {any} session
 * @param {Map<string, Value>} inputs
 * @param {string[]} outputs
 * @returns {Promise<Value[]>}
 */
async function run(ort, session, inputs, outputs) {
  let answers;
  try {
    const feeds = Object.create(null);
    for (const [name, value] of inputs) feeds[name] = toTensor(ort, value);
    const results = outputs.length ? await session.run(feeds, outputs) : await session.run(feeds);
    answers = outputs.map((name) => fromTensor(results[name]));
  } catch (error) {
    const metadata = /** @type {{name: string, isTensor: boolean}[]} */ (session.outputMetadata ?? []);
    const declared = metadata.filter(({ name }) => outputs.includes(name));
    if (!isTrap(error)) await session.release();
    if (typeof error === "number") throw new CppException();
    const { message } = /** @type {Error} */ (error);
    if (NO_TENSOR.test(message) && declared.length && declared.every(({ isTensor }) => isTensor)) {
      throw new AnswerError(`gave what is no tensor, where the graph declares one: ${message}`);
    }
    throw error;
  }
  await session.release();
  return answers;
}

/**
 * Return a value as a tensor of the package. An optional with a value is passed as that value.
 *
 * @param {any} ort - the package
 * @param {any} value
 * @returns {any}
 * @throws {NoTypeError} the interface cannot pass it
 */
function toTensor(ort, { kind, type, shape, data, strings, item }) {
  if (kind === "optional" && item !== null) return toTensor(ort, item);
  if (kind !== "tensor") throw new NoTypeError(`the JavaScript interface passes tensors, and no ${kind}`);
  const row = TENSOR_TYPES.get(type);
  if (row === undefined) {
    throw new NoTypeError(`the JavaScript interface passes no tensor of ${elementType(type).name}`);
  }
  const [name, Elements] = row;
  if (type === STRING) {
    if (!strings.every((/** @type {any} */ text) => text.isWellFormed())) {
      throw new NoTypeError("the JavaScript interface passes no string with bytes that are not UTF-8");
    }
    return new ort.Tensor(name, strings, shape);
  }
  return new ort.Tensor(name, new Elements(data.buffer), shape);
}

/**
 * Return a tensor of the package as a value.
 *
 * @param {any} tensor
 * @returns {Value}
 * @throws {AnswerError} it is not a tensor, or has an element type that the interface does not describe
 */
function fromTensor(tensor) {
  const { type: name, dims, data } = tensor ?? {};
  const type = NUMBERS.get(name);
  if (type === undefined) throw new AnswerError(`gave an output that is no tensor of a type it has: ${name}`);
  const shape = Array.from(dims, Number);
  if (type === STRING) return { kind: "tensor", type, shape, strings: data };
  return { kind: "tensor", type, shape, data };
}
