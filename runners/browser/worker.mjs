// SPDX-License-Identifier: Apache-2.0
/**
 * A worker that runs models with onnxruntime-web. The page ends it if a case crashes or takes too long.
 *
 * The page sends {kind: "load", provider, folder} once, and then one {kind: "case", model, inputs, outputs} after another.
 * The worker replies with {kind: "ready", version, provider} or {kind: "failed", message}, and then with one reply for each
 * case; see `Reply` in judge.mjs.
 *
 * @module worker
 */

import { OPT_OUTS, load } from "../../backends/onnxruntime_tensors.mjs";
import { isTrap, nameOf, optOut, textOf } from "../../backends/runtime_errors.mjs";
import { encode } from "../../backends/values.mjs";

/** @typedef {import("../../backends/values.mjs").Value} Value */
/** @typedef {import("./judge.mjs").Reply} Reply */

/** By execution provider, the file of the package that has it. */
const FILES = new Map([["wasm", "ort.wasm.min.mjs"], ["webgpu", "ort.webgpu.min.mjs"]]);

/** @type {any} */
let ort;
/** @type {object} */
let options;

/**
 * Load the package.
 *
 * @param {string} provider - wasm or webgpu
 * @param {string} folder - the address of the files of onnxruntime-web
 * @returns {Promise<object>} the message to the page
 */
async function start(provider, folder) {
  const address = new URL(/** @type {string} */ (FILES.get(provider)), folder).href;
  try {
    ort = await import(address);
  } catch (error) {
    const message =
      `${address} cannot be loaded; copy the folder dist of the npm package onnxruntime-web to ` +
      `runners/browser/onnxruntime-web (${textOf(error)})`;
    return { kind: "failed", message };
  }
  ort.env.logLevel = "fatal";
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.proxy = false;
  ort.env.wasm.wasmPaths = folder;
  // The same options as those of the adapter onnxruntime_web, except the provider.
  options = { executionProviders: [provider], intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4 };
  return { kind: "ready", version: ort.env.versions.web, provider };
}

/**
 * Run a model once.
 *
 * @param {{model: Uint8Array, inputs: Map<string, Value>, outputs: string[]}} request
 * @returns {Promise<Reply>}
 */
async function answer({ model, inputs, outputs }) {
  const started = performance.now();
  const seconds = () => Number(((performance.now() - started) / 1000).toFixed(6));
  let phase = "load";
  let values;
  try {
    const runs = await load(ort, options, model);
    phase = "run";
    values = await runs(inputs, outputs);
  } catch (error) {
    if (isTrap(error)) return { kind: "crash", message: `WebAssembly ended with an error: ${textOf(error)}` };
    const reason = optOut(OPT_OUTS, error);
    return { kind: "refused", error: nameOf(error), message: textOf(error), reason, phase, seconds: seconds() };
  }
  try {
    for (const value of values) encode(value, []);
  } catch (error) {
    return { kind: "fault", message: textOf(error) };
  }
  return { kind: "answer", outputs: values, seconds: seconds() };
}

self.addEventListener("message", async ({ data }) => {
  self.postMessage(data.kind === "load" ? await start(data.provider, data.folder) : await answer(data));
});
