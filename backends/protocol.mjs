// SPDX-License-Identifier: Apache-2.0
/**
 * The wire format of README.md for adapters in JavaScript, which run in Node.js. protocol.py and serve.py are the same for
 * Python. docs/javascript.md has an adapter to start from.
 *
 * An adapter calls {@link serve}. The rest is for programs that read or write single messages. The functions for values
 * (values.mjs) and for errors of runtimes (runtime_errors.mjs) also work in browsers; this module exports them, too.
 *
 * @module protocol
 */

import { Buffer } from "node:buffer";
import fs from "node:fs";
import process from "node:process";

import { isTrap, nameOf, optOut, textOf } from "./runtime_errors.mjs";
import { Payload, ProtocolError, clip, encode, ensure } from "./values.mjs";

export { isTrap, optOut } from "./runtime_errors.mjs";
export {
  ELEMENT_TYPES, MAX_DEPTH, Payload, ProtocolError, STRING, count, elementType, encode, packedSize,
} from "./values.mjs";

/** @typedef {import("./values.mjs").Value} Value */
/** @typedef {import("./runtime_errors.mjs").OptOut} OptOut */
/**
 * A header: one JSON object. README.md describes the members of each kind.
 *
 * @typedef {{kind: string, payload: number} & Record<string, any>} Header
 */
/**
 * Runs a loaded model once.
 *
 * @callback Run
 * @param {Map<string, Value>} inputs - by name of a graph input, in the order of the graph
 * @param {string[]} outputs - the names of the outputs to return
 * @returns {Value[] | Promise<Value[]>} one value for each name, in that order
 */
/**
 * An adapter. It has `session` if the runtime loads a model before it runs it, and `run` otherwise. Both throw the errors
 * of the runtime.
 *
 * @typedef {object} Adapter
 * @property {string} name - of the adapter
 * @property {() => object | Promise<object>} info - returns the members of `hello` that describe the runtime: `runtime`,
 *   `version`, and any others
 * @property {OptOut[]} OPT_OUTS - the errors with which the runtime reports missing support
 * @property {(model: Uint8Array) => Run | Promise<Run>} [session] - loads a serialized ModelProto
 * @property {(model: Uint8Array, inputs: Map<string, Value>, outputs: string[]) => Value[] | Promise<Value[]>} [run] -
 *   loads and runs a serialized ModelProto
 */

/** The version of the wire format. */
export const VERSION = 1;
/** The largest header line, in bytes. */
export const MAX_HEADER = 64 * 2 ** 20;
/** The largest payload, in bytes. */
export const MAX_PAYLOAD = 2 ** 30;

const CHUNK = 2 ** 16;
const EMPTY = new Int32Array(new SharedArrayBuffer(4)); // Nobody notifies it, so waiting for it is sleeping.
const PAUSE = 1; // Milliseconds.
const LINE_END = 0x0a;
const CANNOT_LOAD = 3; // The exit status if the runtime cannot be loaded.

// The phases in which a runtime may refuse a model.
const LOAD = "load";
const RUN = "run";

/**
 * Return a complete message: header line and payload.
 *
 * @param {{kind: string} & Record<string, any>} header - without `payload`, which is added
 * @param {Uint8Array[]} [buffers] - the parts of the payload
 * @returns {Buffer}
 */
export function message(header, buffers = []) {
  const payload = buffers.reduce((sum, { length }) => sum + length, 0);
  return Buffer.concat([Buffer.from(`${JSON.stringify({ ...header, payload })}\n`), ...buffers]);
}

/**
 * Parse a header line.
 *
 * @param {Buffer} line - without its line end
 * @returns {Header}
 * @throws {ProtocolError} it is not JSON, not an object with a kind, or its `payload` is not a size
 */
export function parseHeader(line) {
  let header;
  try {
    header = JSON.parse(line.toString("utf8"));
  } catch {
    throw new ProtocolError(`not a header line: ${clip(line.toString("latin1"))}`);
  }
  ensure(typeof header?.kind === "string", () => 'a header is an object with a "kind"');
  const { payload } = header;
  ensure(Number.isInteger(payload) && payload >= 0 && payload <= MAX_PAYLOAD, () => `"payload" is ${clip(payload)}`);
  return header;
}

/**
 * Call a function that reads or writes a descriptor, until the descriptor is ready.
 *
 * Node.js makes the standard streams non-blocking when a module uses `process.stdin` or imports `node:process`. A call then
 * fails with EAGAIN instead of waiting.
 *
 * @param {() => number} call
 * @returns {number}
 */
function blocking(call) {
  for (;;) {
    try {
      return call();
    } catch (error) {
      const { code } = /** @type {NodeJS.ErrnoException} */ (error);
      if (code === "EOF") return 0; // Windows reports the end of a pipe as an error.
      if (code !== "EAGAIN") throw error;
      Atomics.wait(EMPTY, 0, 0, PAUSE);
    }
  }
}

/** Reads messages from a file descriptor. Reading blocks until a message is complete. */
export class Messages {
  /** @type {Buffer} */
  #held = Buffer.alloc(0);

  /** @param {number} descriptor */
  constructor(descriptor) {
    this.descriptor = descriptor;
  }

  /**
   * Return the next message.
   *
   * @returns {{header: Header, payload: Buffer} | null} null at the end of the stream
   * @throws {ProtocolError} the stream ends inside a message, or a header is invalid
   * @throws {Error} the descriptor cannot be read
   */
  read() {
    const line = this.#line();
    if (line === null) return null;
    const header = parseHeader(line);
    return { header, payload: this.#take(header.payload) };
  }

  #line() {
    for (let scanned = 0; ; ) {
      const end = this.#held.indexOf(LINE_END, scanned);
      if (end >= 0) {
        const line = this.#held.subarray(0, end);
        this.#held = this.#held.subarray(end + 1);
        return line;
      }
      scanned = this.#held.length;
      ensure(scanned <= MAX_HEADER, () => `a header line of over ${MAX_HEADER} bytes`);
      const chunk = Buffer.allocUnsafe(Math.max(CHUNK, scanned)); // A long line is not copied once for each chunk.
      const read = blocking(() => fs.readSync(this.descriptor, chunk));
      if (read === 0) {
        ensure(scanned === 0, () => `the stream ended inside a header, after ${scanned} bytes`);
        return null;
      }
      this.#held = Buffer.concat([this.#held, chunk.subarray(0, read)]);
    }
  }

  /** @param {number} size */
  #take(size) {
    const whole = Buffer.allocUnsafe(size);
    let filled = this.#held.copy(whole, 0, 0, size);
    this.#held = this.#held.subarray(filled);
    while (filled < size) {
      const at = filled;
      const read = blocking(() => fs.readSync(this.descriptor, whole, at, size - at, null));
      ensure(read > 0, () => `the stream ended after ${filled} of ${size} bytes`);
      filled += read;
    }
    return whole;
  }
}

/**
 * Write all bytes to a file descriptor.
 *
 * @param {number} descriptor
 * @param {Uint8Array} bytes
 * @throws {Error} the descriptor cannot be written
 */
export function write(descriptor, bytes) {
  for (let at = 0; at < bytes.length; ) {
    const from = at;
    at += blocking(() => fs.writeSync(descriptor, bytes, from));
  }
}

/**
 * @param {Adapter} adapter
 * @param {Buffer} model
 * @param {Map<string, Value>} inputs
 * @param {string[]} outputs
 * @param {{phase?: string}} reached - its phase is set if the adapter loads and runs a model in separate steps
 */
async function run(adapter, model, inputs, outputs, reached) {
  if (!adapter.session) return adapter.run?.(model, inputs, outputs);
  reached.phase = LOAD;
  const runs = await adapter.session(model);
  reached.phase = RUN;
  return runs(inputs, outputs);
}

/**
 * Return the message that answers a request: `answer`, `refused`, `unsupported` or `fault`.
 *
 * A trap of WebAssembly ends the process by SIGABRT, because its instance cannot be used again. The harness then reports
 * a crash of this case.
 *
 * @param {Adapter} adapter
 * @param {Header} header - of the request
 * @param {Buffer} payload - of the request
 * @returns {Promise<Buffer>}
 */
export async function answer(adapter, header, payload) {
  const { id, model: size, inputs: described, outputs: names } = header;
  const started = performance.now();
  const fault = (/** @type {unknown} */ error) =>
    message({ kind: "fault", id, message: `${nameOf(error)}: ${textOf(error)}` });
  let inputs;
  try {
    const reader = new Payload(payload.subarray(size));
    inputs = new Map(described.map((/** @type {any} */ { name, value }) => [name, reader.decode(value)]));
    reader.end();
  } catch (error) {
    return fault(error);
  }
  const reached = {};
  let values;
  let failed = null;
  try {
    values = await run(adapter, payload.subarray(0, size), inputs, names, reached);
  } catch (error) {
    if (isTrap(error)) {
      console.error(/** @type {Error} */ (error).stack);
      process.abort();
    }
    const reason = optOut(adapter.OPT_OUTS, error);
    const kind = reason === null ? "refused" : "unsupported";
    failed = { kind, error: nameOf(error), message: textOf(error), reason, ...reached };
  }
  const seconds = Number(((performance.now() - started) / 1000).toFixed(6));
  if (failed) return message({ id, seconds, ...failed });
  try {
    /** @type {Uint8Array[]} */
    const buffers = [];
    const outputs = /** @type {Value[]} */ (values).map((value) => encode(value, buffers));
    return message({ kind: "answer", id, seconds, outputs }, buffers);
  } catch (error) {
    return fault(error); // The adapter returned no list of values.
  }
}

/**
 * Send `hello`, and answer requests until their stream ends. Then the process ends.
 *
 * If `load` or `info` throws, the message `failed` contains the error, and the exit status is 3.
 *
 * @param {() => Adapter | Promise<Adapter>} load - loads the runtime
 * @param {number} [requests] - the file descriptor of the requests
 * @param {number} [answers] - the file descriptor of the answers. serve_node.py passes two descriptors that the runtime
 *   does not know
 * @returns {Promise<never>}
 * @throws {ProtocolError} a request does not have the wire format
 */
export async function serve(load, requests = 0, answers = 1) {
  let adapter;
  let info;
  try {
    adapter = await load();
    info = await adapter.info();
  } catch (error) {
    write(answers, message({ kind: "failed", message: `${nameOf(error)}: ${textOf(error)}` }));
    process.exit(CANNOT_LOAD);
  }
  const { node } = process.versions;
  write(answers, message({ kind: "hello", protocol: VERSION, name: adapter.name, node, ...info }));
  const messages = new Messages(requests);
  for (let next = messages.read(); next !== null; next = messages.read()) {
    write(answers, await answer(adapter, next.header, next.payload));
  }
  process.exit(0); // A thread or a timer that the runtime left open would keep the process alive.
}
