// The wire format of README.md, for adapters in JavaScript: what protocol.py and serve.py are for those in Python.
//
// A value is the object that describes it in a header, with the bytes of a tensor beside it:
// {kind: "tensor", type, shape, data: Uint8Array} or, of strings, {kind: "tensor", type, shape, strings},
// {kind: "sequence", items}, {kind: "map", keys, values} and {kind: "optional", item}.

import { Buffer } from "node:buffer";
import fs from "node:fs";
import process from "node:process";

export const VERSION = 1;
export const MAX_HEADER = 64 * 2 ** 20;
export const MAX_PAYLOAD = 2 ** 30;
export const MAX_DEPTH = 32;

const BYTE = 8;
const CHUNK = 2 ** 16;
const LINE_END = 0x0a;
const MOST_TEXT = 20_000;
const SHOWN = 80;
const NOT_TO_BE_HAD = 3;

// The phases in which a runtime may refuse a model.
const LOAD = "load";
const RUN = "run";

export const STRING = 8;

// TensorProto.DataType: number, name, bits of one element.
export const ELEMENT_TYPES = [
  [1, "float", 32], [2, "uint8", 8], [3, "int8", 8], [4, "uint16", 16], [5, "int16", 16], [6, "int32", 32],
  [7, "int64", 64], [STRING, "string", 0], [9, "bool", 8], [10, "float16", 16], [11, "double", 64], [12, "uint32", 32],
  [13, "uint64", 64], [14, "complex64", 64], [15, "complex128", 128], [16, "bfloat16", 16], [17, "float8e4m3fn", 8],
  [18, "float8e4m3fnuz", 8], [19, "float8e5m2", 8], [20, "float8e5m2fnuz", 8], [21, "uint4", 4], [22, "int4", 4],
  [23, "float4e2m1", 4], [24, "float8e8m0", 8], [25, "uint2", 2], [26, "int2", 2], [27, "float6e2m3", 6],
  [28, "float6e3m2", 6],
].map(([number, name, bits]) => ({ number, name, bits }));

const ROWS = new Map(ELEMENT_TYPES.map((row) => [row.number, row]));

/** A message that does not follow the wire format, or a value that cannot be one; the text says what was wrong. */
export class ProtocolError extends Error {}

// The text is a function, because most of it is made of values, and hardly ever read.
function ensure(holds, text) {
  if (!holds) throw new ProtocolError(text());
}

const clip = (value) => String(JSON.stringify(value)).slice(0, SHOWN);

/** The row of an element type's number. */
export function elementType(number) {
  ensure(ROWS.has(number), () => `element type ${clip(number)}: expected a number of TensorProto.DataType`);
  return ROWS.get(number);
}

/** How many elements a shape has. */
export function count(shape) {
  ensure(
    Array.isArray(shape) && shape.every((dim) => Number.isSafeInteger(dim) && dim >= 0),
    () => `tensor shape ${clip(shape)}: expected a list of integers of at least 0`,
  );
  return shape.reduce((left, right) => left * right, 1);
}

/** How many bytes the elements of a shape take in TensorProto.raw_data. */
export function packedSize(number, shape) {
  return Math.ceil((count(shape) * elementType(number).bits) / BYTE);
}

/** Reads the values of one message in order from its bytes. */
export class Payload {
  constructor(bytes) {
    this.bytes = bytes;
    this.offset = 0;
  }

  /** The value that `described` announces; its bytes are a copy, so that they are aligned for any typed array. */
  decode(described, depth = 0) {
    ensure(depth <= MAX_DEPTH, () => `values lie over ${MAX_DEPTH} deep in one another`);
    const inner = (item) => this.decode(item, depth + 1);
    const { kind } = described ?? {};
    if (kind === "tensor") return this.#tensor(described);
    if (kind === "sequence") return { kind, items: list(described.items, "items").map(inner) };
    if (kind === "map") {
      const keys = inner(described.keys); // Before the values, as their bytes are.
      const values = list(described.values, "values").map(inner);
      ensure(count(keys.shape) === values.length, () => `${values.length} values for ${clip(keys.shape)} keys`);
      return { kind, keys, values };
    }
    ensure(kind === "optional", () => `value kind ${clip(kind)}: expected tensor, sequence, map or optional`);
    return { kind, item: described.item == null ? null : inner(described.item) };
  }

  #tensor({ kind, type, shape, strings }) {
    const size = packedSize(type, shape);
    if (type === STRING) {
      const expected = count(shape);
      ensure(
        list(strings, "strings").length === expected && strings.every((item) => typeof item === "string"),
        () => `${strings.length} strings for shape ${clip(shape)}: expected ${expected}`,
      );
      return { kind, type, shape, strings };
    }
    const end = this.offset + size;
    const left = this.bytes.length - this.offset;
    ensure(size <= left, () => `shape ${clip(shape)} of type ${type} needs ${size} bytes, ${left} are left`);
    const data = new Uint8Array(this.bytes.subarray(this.offset, end));
    this.offset = end;
    return { kind, type, shape, data };
  }

  /** Throws where bytes are left over. */
  end() {
    const left = this.bytes.length - this.offset;
    ensure(left === 0, () => `${left} bytes are left over after the last value`);
  }
}

function list(value, key) {
  ensure(Array.isArray(value), () => `"${key}" of a value is ${clip(value)}: expected a list`);
  return value;
}

/** The header's description of a value; its bytes are appended to `buffers`. */
export function encode(value, buffers) {
  const inner = (item) => encode(item, buffers);
  const { kind } = value ?? {};
  if (kind === "sequence") return { kind, items: value.items.map(inner) };
  if (kind === "map") {
    const keys = inner(value.keys);
    return { kind, keys, values: value.values.map(inner) };
  }
  if (kind === "optional") return { kind, item: value.item === null ? null : inner(value.item) };
  ensure(kind === "tensor", () => `${clip(value)} is no tensor, sequence, map or optional`);
  const { type, shape, strings, data } = value;
  if (type === STRING) {
    ensure(strings?.length === count(shape), () => `${strings?.length} strings for shape ${clip(shape)}`);
    return { kind, type, shape, strings };
  }
  const size = packedSize(type, shape);
  ensure(data?.byteLength === size, () => `${data?.byteLength} bytes for shape ${clip(shape)} of type ${type}`);
  buffers.push(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  return { kind, type, shape };
}

/** One whole message, header line and payload. */
export function message(header, buffers = []) {
  const payload = buffers.reduce((sum, { length }) => sum + length, 0);
  return Buffer.concat([Buffer.from(`${JSON.stringify({ ...header, payload })}\n`), ...buffers]);
}

/** The header of one line. */
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

/** Reads messages from a descriptor; blocks until one is whole. */
export class Messages {
  #held = Buffer.alloc(0);

  constructor(descriptor) {
    this.descriptor = descriptor;
  }

  /** The next {header, payload}, or null at the end of the stream. */
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
      const read = fs.readSync(this.descriptor, chunk);
      if (read === 0) {
        ensure(scanned === 0, () => `the stream ended inside a header, after ${scanned} bytes`);
        return null;
      }
      this.#held = Buffer.concat([this.#held, chunk.subarray(0, read)]);
    }
  }

  #take(size) {
    const whole = Buffer.allocUnsafe(size);
    let filled = this.#held.copy(whole, 0, 0, size);
    this.#held = this.#held.subarray(filled);
    while (filled < size) {
      const read = fs.readSync(this.descriptor, whole, filled, size - filled, null);
      ensure(read > 0, () => `the stream ended after ${filled} of ${size} bytes`);
      filled += read;
    }
    return whole;
  }
}

/** Writes all bytes to a descriptor. */
export function write(descriptor, bytes) {
  for (let at = 0; at < bytes.length; ) at += fs.writeSync(descriptor, bytes, at);
}

const nameOf = (error) => String(error?.name ?? typeof error);
const textOf = (error) => String(error?.message ?? error).slice(0, MOST_TEXT);

/** The reason of the first row that an error fits, or null: a failure. A row is [error's name, pattern, reason]. */
export function optOut(table, error) {
  const row = table.find(([name, pattern]) => name === nameOf(error) && pattern.test(textOf(error)));
  return row ? row[2] : null;
}

/**
 * Whether an error has left WebAssembly in the middle of what it did: a trap, an abort, the end of its stack.
 * Its memory is then as it happened to be, and the next case would pay for this one.
 */
export function isTrap(error) {
  return error instanceof WebAssembly.RuntimeError || (error instanceof RangeError && /call stack/.test(error.message));
}

async function run(adapter, model, inputs, outputs, reached) {
  if (!adapter.session) return adapter.run(model, inputs, outputs);
  reached.phase = LOAD;
  const runs = await adapter.session(model);
  reached.phase = RUN;
  return runs(inputs, outputs);
}

/** The message that answers one request. */
export async function answer(adapter, header, payload) {
  const { id, model: size, inputs: described, outputs: names } = header;
  const started = performance.now();
  const fault = (error) => message({ kind: "fault", id, message: `${nameOf(error)}: ${textOf(error)}` });
  let inputs;
  try {
    const reader = new Payload(payload.subarray(size));
    inputs = new Map(described.map(({ name, value }) => [name, reader.decode(value)]));
    reader.end();
  } catch (error) {
    return fault(error);
  }
  const reached = {}; // Its phase, where the adapter loads and runs a model apart.
  let values;
  let failed = null;
  try {
    values = await run(adapter, payload.subarray(0, size), inputs, names, reached);
  } catch (error) {
    if (isTrap(error)) {
      console.error(error.stack);
      process.abort(); // So the harness sees which case it was, as where native code dies.
    }
    const reason = optOut(adapter.OPT_OUTS, error);
    const kind = reason === null ? "refused" : "unsupported";
    failed = { kind, error: nameOf(error), message: textOf(error), reason, ...reached };
  }
  const seconds = Number(((performance.now() - started) / 1000).toFixed(6));
  if (failed) return message({ id, seconds, ...failed });
  try {
    const buffers = [];
    const outputs = values.map((value) => encode(value, buffers));
    return message({ kind: "answer", id, seconds, outputs }, buffers);
  } catch (error) {
    return fault(error); // The adapter returned no list of values.
  }
}

/**
 * Answers requests until their stream ends.
 *
 * `load` gives the adapter: `name`, `info()`, `OPT_OUTS`, and `run(model, inputs, outputs)` or, of a runtime that loads
 * a model before it runs it, `session(model)`, which gives what runs it once: (inputs, outputs) to a list of values.
 * The descriptors are those that serve_node.py keeps away from the runtime.
 */
export async function serve(load, requests = 0, answers = 1) {
  let adapter;
  let info;
  try {
    adapter = await load();
    info = await adapter.info();
  } catch (error) {
    write(answers, message({ kind: "failed", message: `${nameOf(error)}: ${textOf(error)}` }));
    process.exit(NOT_TO_BE_HAD);
  }
  const { node } = process.versions;
  write(answers, message({ kind: "hello", protocol: VERSION, name: adapter.name, node, ...info }));
  const messages = new Messages(requests);
  for (let next = messages.read(); next !== null; next = messages.read()) {
    write(answers, await answer(adapter, next.header, next.payload));
  }
  process.exit(0); // What a runtime left open, a thread or a timer, must not hold it.
}
