// SPDX-License-Identifier: Apache-2.0
/**
 * onnxruntime-web in a page, for onnxruntime_chromium.mjs, which calls these functions. Bytes are in base64.
 *
 * @module onnxruntime_page
 */

import { load, tryOut } from "./onnxruntime_tensors.mjs";
import { isTrap, nameOf, textOf } from "./runtime_errors.mjs";
import { Payload } from "./values.mjs";

/** @type {any} */
let ort;
/** @type {object} */
let options;
/** @type {((inputs: Map<string, any>, outputs: string[]) => Promise<any[]>) | null} */
let runs = null;
let lost = "";

const bytes = (/** @type {string} */ text) => /** @type {any} */ (Uint8Array).fromBase64(text);
const base64 = (/** @type {any} */ { buffer, byteOffset, byteLength }) =>
  /** @type {any} */ (new Uint8Array(buffer, byteOffset, byteLength)).toBase64();

/**
 * Load the package, and a model.
 *
 * @param {string} address - of its module, absolute or within this server
 * @param {object} with_ - the options of every session
 */
export async function start(address, with_) {
  const file = new URL(address, location.href).href;
  ort = await import(file);
  ort.env.logLevel = "fatal";
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.proxy = false;
  ort.env.wasm.wasmPaths = new URL(".", file).href;
  options = with_;
  await tryOut(ort, options);
}

/**
 * Do something that may fail.
 *
 * @param {() => Promise<object>} work
 * @returns {Promise<object>} its result, or the error: its name, its message, and whether the page is unusable after it
 */
async function tried(work) {
  try {
    return await work();
  } catch (error) {
    await null; // The loss of a device is reported after the error that it causes.
    if (isTrap(error) || lost) return { fatal: `${lost}${textOf(error)}` };
    return { name: nameOf(error), message: textOf(error) };
  }
}

/**
 * Load a model.
 *
 * @param {string} model
 */
export function session(model) {
  return tried(async () => {
    runs = null;
    runs = await load(ort, options, bytes(model));
    const device = await ort.env.webgpu?.device;
    device?.lost.then((/** @type {any} */ { reason, message }) => {
      // "destroyed" is the end of a session, which destroys its device.
      if (reason !== "destroyed") lost = `the device of WebGPU was lost: ${message}; `;
    });
    return {};
  });
}

/**
 * Run the loaded model.
 *
 * @param {[string, any][]} described - the name of each input, and its value as in the wire format
 * @param {string} payload
 * @param {string[]} outputs
 */
export function run(described, payload, outputs) {
  return tried(async () => {
    const reader = new Payload(bytes(payload));
    const inputs = new Map(described.map(([name, value]) => [name, reader.decode(value)]));
    const values = await /** @type {NonNullable<typeof runs>} */ (runs)(inputs, outputs);
    return { values: values.map(({ data, ...rest }) => ({ ...rest, data: data === undefined ? data : base64(data) })) };
  });
}
