// SPDX-License-Identifier: Apache-2.0
/**
 * onnxruntime-web in a worker. After a crash or a timeout, the worker is replaced, because its WebAssembly cannot be used
 * again.
 *
 * This module works in browsers.
 *
 * @module runtime
 */

/** @typedef {import("./pack.mjs").Case} Case */
/** @typedef {import("./judge.mjs").Reply} Reply */

/** The folder of the files of onnxruntime-web, which the user copies there; see docs/javascript.md. */
const FOLDER = new URL("./onnxruntime-web/", import.meta.url).href;
const SECONDS_TO_START = 120;

/** The runtime cannot be loaded. The message is one sentence for the user. */
export class NoRuntimeError extends Error {
  name = "NoRuntimeError";
}

/**
 * Return the best execution provider of this browser.
 *
 * @returns {Promise<"webgpu" | "wasm">}
 */
export async function bestProvider() {
  const gpu = /** @type {any} */ (navigator).gpu;
  const adapter = gpu ? await gpu.requestAdapter().catch(() => null) : null;
  return adapter ? "webgpu" : "wasm";
}

/** A runtime that answers one case at a time. */
export class Runtime {
  /** @type {Worker | null} */
  #worker = null;

  /**
   * @param {"webgpu" | "wasm"} provider
   * @param {number} timeout - seconds that one case may take
   */
  constructor(provider, timeout) {
    this.provider = provider;
    this.timeout = timeout;
    /** The version of onnxruntime-web; empty before {@link start}. */
    this.version = "";
  }

  /** The name of the backend in results: that of the adapter with the same runtime, and the provider if it differs. */
  get backend() {
    return this.provider === "wasm" ? "onnxruntime_web" : `onnxruntime_web[${this.provider}]`;
  }

  /**
   * Start the worker.
   *
   * @returns {Promise<void>}
   * @throws {NoRuntimeError} the files of onnxruntime-web are missing, or do not load
   */
  async start() {
    this.#worker = new Worker(new URL("./worker.mjs", import.meta.url), { type: "module" });
    const { provider } = this;
    const message = await this.#sent({ kind: "load", provider, folder: FOLDER }, SECONDS_TO_START);
    if (message?.kind !== "ready") {
      this.close();
      throw new NoRuntimeError(message?.message ?? `onnxruntime-web did not start within ${SECONDS_TO_START} seconds`);
    }
    this.version = message.version;
  }

  /**
   * Return the reply to a case.
   *
   * @param {Case} item
   * @returns {Promise<Reply>}
   * @throws {NoRuntimeError} the worker had to be replaced, and does not start
   */
  async ask({ model, inputs, outputs }) {
    if (this.#worker === null) await this.start();
    const reply = await this.#sent({ kind: "case", model, inputs, outputs }, this.timeout);
    if (reply === null) {
      this.close();
      return { kind: "timeout", message: `no answer within ${this.timeout} s` };
    }
    if (reply.kind === "crash") this.close();
    return reply;
  }

  /** End the worker. */
  close() {
    this.#worker?.terminate();
    this.#worker = null;
  }

  /**
   * @param {object} message
   * @param {number} seconds
   * @returns {Promise<any>} the next message of the worker; null: it sent none in time
   */
  #sent(message, seconds) {
    const worker = /** @type {Worker} */ (this.#worker);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(null), seconds * 1000);
      const done = (/** @type {any} */ result) => {
        clearTimeout(timer);
        resolve(result);
      };
      worker.onmessage = ({ data }) => done(data);
      worker.onmessageerror = () => done({ kind: "fault", message: "the worker sent a value that cannot be read" });
      worker.onerror = (event) => done({ kind: "crash", message: event.message ?? "the worker ended with an error" });
      worker.postMessage(message);
    });
  }
}
