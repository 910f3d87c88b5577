// SPDX-License-Identifier: Apache-2.0
/**
 * Reads packs: files with many cases, which `onnx-conformance pack` writes. docs/formats.md describes them.
 *
 * This module works in browsers, and in Node.js since version 20.12:
 *
 *     import { openAsBlob } from "node:fs";
 *     import { openPack } from "./pack.mjs";
 *
 *     const pack = await openPack(await openAsBlob("cases-core.pack"));
 *     for (const { operator } of pack.operators) {
 *       for (const item of await pack.cases(operator)) console.log(item.id);
 *     }
 *
 * A pack is a zip archive with deflate compression. Only the directory of the archive is read at once. The bytes of an
 * operator are read when its cases are requested, and compared with the SHA-256 digests in the index.
 *
 * @module pack
 */

import { Payload, ProtocolError, clip } from "../../backends/values.mjs";

/** @typedef {import("../../backends/values.mjs").Value} Value */
/** @typedef {import("../../backends/values.mjs").Tensor} Tensor */
/**
 * How an output may differ from the expected values. A missing member is empty, 0 or false; docs/formats.md describes
 * the members.
 *
 * @typedef {object} Tolerance
 * @property {string} [reason]
 * @property {number} [ulp]
 * @property {number} [rtol]
 * @property {number} [atol]
 * @property {boolean} [signed_zero]
 * @property {[number, number]} [interval]
 * @property {{axes: number[], total: number, within: number, output: number}} [sums]
 * @property {Record<string, {values: number, elementwise: boolean}>} [any_of]
 * @property {{axis: number, lanewise: boolean}} [any_order]
 */
/**
 * A case.
 *
 * @typedef {object} Case
 * @property {string} id
 * @property {string} operator - such as ai.onnx/Split/18
 * @property {string} form - how it is delivered
 * @property {"values" | "property" | "rejects" | "unspecified"} outcome
 * @property {boolean} core - whether it is in the core
 * @property {string[]} clauses
 * @property {string} detail
 * @property {string} force
 * @property {string} reworded
 * @property {string[]} readings
 * @property {string[]} tags
 * @property {Tolerance} tolerance
 * @property {Record<string, any>} drawn - by the number of an output, the properties of its values
 * @property {Uint8Array} model - a serialized ModelProto
 * @property {Map<string, Uint8Array>} files - external data files in the folder of the model
 * @property {Map<string, Value>} inputs - by name of a graph input
 * @property {Map<string, Value> | null} earlier - inputs with which the same session runs the model first
 * @property {string[]} outputs - the names of the graph outputs
 * @property {(Value | null)[] | null} expected - their values; null: the case expects no values, or the properties of an
 *   output are in `drawn`
 * @property {Tensor[] | null} bounds - for each output, the absolute error that is allowed for each element
 * @property {Map<number, Tensor[]>} others - by the number of an output, further permitted values
 */
/**
 * A member of the archive.
 *
 * @typedef {object} Entry
 * @property {number} method - 0: stored, 8: deflate
 * @property {number} packed - its size in the archive, in bytes
 * @property {number} size - its size, in bytes
 * @property {number} crc - its checksum
 * @property {number} at - the place of its local header
 */

/** The newest version of the format that this module reads. */
export const VERSION = 1;

const FORMAT = "onnx-conformance-cases";
const AGAIN = "download it again, or write it again with `onnx-conformance pack`";
const DIRECTORY_END = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_HEADER = 0x04034b50;
const MOST_COMMENT = 2 ** 16;
const END_SIZE = 22;
const ENTRY_SIZE = 46;
const LOCAL_SIZE = 30;
const ZIP64 = 0xffffffff;
const STORED = 0;
const DEFLATED = 8;
const MOST_MEMBER = 2 ** 30; // Bytes of one member.

/** The file is not a pack, is damaged, or has a newer format. The message is one sentence for the user. */
export class PackError extends Error {
  name = "PackError";
}

const damaged = (/** @type {string} */ why) => new PackError(`this is not a complete pack: ${why}; ${AGAIN}`);

/**
 * Open a pack, and read its index.
 *
 * @param {Blob | Uint8Array} source - a file of the user, or the bytes of one
 * @param {string} [name] - its name, for results
 * @returns {Promise<Pack>}
 * @throws {PackError} it is not a pack, is damaged, or has a newer format
 */
export async function openPack(source, name = "") {
  const blob = source instanceof Blob ? source : new Blob([/** @type {BlobPart} */ (source)]);
  if (!globalThis.crypto?.subtle) {
    throw new PackError(
      "this page cannot compute SHA-256 digests; open it as http://127.0.0.1, http://localhost or https",
    );
  }
  const archive = new Archive(blob, await directory(blob));
  const bytes = await archive.read("index.json");
  if (bytes === null) throw damaged("it has no index.json");
  let index;
  try {
    index = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw damaged("its index.json is not JSON");
  }
  if (index?.format !== FORMAT) throw damaged("its index.json is not that of a pack");
  if (!Number.isInteger(index.version) || index.version > VERSION) {
    throw new PackError(
      `this pack has version ${clip(index.version)} of the format, and this page reads versions up to ${VERSION}; ` +
        "use the page of a newer onnx-conformance",
    );
  }
  const parts = Array.isArray(index.operators) ? index.operators : [];
  const whole = parts.every((/** @type {any} */ part) => typeof part?.operator === "string" && part.cases && part.data);
  if (!parts.length || !whole) throw damaged("its index.json lists no operators");
  return new Pack(archive, index, (await sha256(bytes)).slice(0, 16), name);
}

/** The cases of a pack. {@link openPack} creates it. */
export class Pack {
  /** @type {Archive} */
  #archive;

  /**
   * @param {Archive} archive
   * @param {any} index
   * @param {string} digest
   * @param {string} name
   */
  constructor(archive, index, digest, name) {
    this.#archive = archive;
    /** The content of index.json; docs/formats.md describes its members. */
    this.index = index;
    /** The first 16 characters of the SHA-256 digest of index.json. Results name the pack by it. */
    this.digest = digest;
    /** The name of the file. */
    this.name = name;
  }

  /**
   * The operators, in the order of the pack.
   *
   * @returns {{operator: string, versions: Record<string, number>, core: number}[]}
   */
  get operators() {
    return this.index.operators;
  }

  /**
   * Return the cases of an operator.
   *
   * @param {string} operator - such as ai.onnx/Split
   * @returns {Promise<Case[]>}
   * @throws {PackError} the pack has no such operator, or its cases are damaged
   */
  async cases(operator) {
    const part = this.operators.find((item) => item.operator === operator);
    if (part === undefined) throw new PackError(`the pack has no operator ${clip(operator)}`);
    const lines = new TextDecoder().decode(await this.#checked(operator, "cases")).split("\n");
    const data = await this.#checked(operator, "data");
    const cases = [];
    for (const [number, line] of lines.entries()) {
      if (line) cases.push(await this.#case(line, data, `${operator}, line ${number + 1}`));
    }
    return cases;
  }

  /**
   * @param {string} operator
   * @param {"cases" | "data"} key
   * @returns {Promise<Uint8Array>}
   */
  async #checked(operator, key) {
    const { name, sha256: digest } = this.index.operators.find((/** @type {any} */ it) => it.operator === operator)[key];
    return this.#member(String(name), String(digest));
  }

  /**
   * @param {string} name
   * @param {string} digest
   * @returns {Promise<Uint8Array>}
   */
  async #member(name, digest) {
    const bytes = await this.#archive.read(name);
    if (bytes === null) throw damaged(`${clip(name)} is missing`);
    if ((await sha256(bytes)) !== digest) throw damaged(`${clip(name)} was changed`);
    return bytes;
  }

  /**
   * @param {string} line
   * @param {Uint8Array} data
   * @param {string} place
   * @returns {Promise<Case>}
   */
  async #case(line, data, place) {
    try {
      const item = JSON.parse(line);
      const large = new Map();
      for (const digest of largeTensors(item)) large.set(digest, await this.#member(`large/${digest}`, digest));
      return read(item, data, large);
    } catch (error) {
      if (error instanceof PackError) throw error;
      const { message } = /** @type {Error} */ (error);
      throw damaged(`${place} cannot be read (${message})`);
    }
  }
}

/**
 * @param {any} item
 * @returns {Generator<string>} the digests of the large tensors in a description
 */
function* largeTensors(item) {
  if (Array.isArray(item)) {
    for (const inner of item) yield* largeTensors(inner);
  } else if (item !== null && typeof item === "object") {
    if (item.kind === "tensor" && item.large !== undefined) yield String(item.large);
    else for (const inner of Object.values(item)) yield* largeTensors(inner);
  }
}

/** Reads values whose tensors name the places of their bytes. */
class Placed extends Payload {
  /**
   * @param {Uint8Array} bytes
   * @param {Map<string, Uint8Array>} large
   */
  constructor(bytes, large) {
    super(bytes);
    this.large = large;
  }

  /**
   * @override
   * @param {any} described
   * @returns {Tensor}
   */
  tensor(described) {
    if (described.large !== undefined) {
      const bytes = this.large.get(String(described.large));
      if (bytes === undefined) throw new ProtocolError(`there is no large tensor ${clip(described.large)}`);
      return new Payload(bytes).tensor(described);
    }
    const { at = 0 } = described;
    if (!Number.isSafeInteger(at) || at < 0 || at > this.bytes.length) {
      throw new ProtocolError(`place ${clip(at)} is not in the block of ${this.bytes.length} bytes`);
    }
    this.offset = at;
    return super.tensor(described);
  }
}

const OUTCOMES = new Set(["values", "property", "rejects", "unspecified"]);

/**
 * @param {any} item
 * @param {Uint8Array} data
 * @param {Map<string, Uint8Array>} large
 * @returns {Case}
 */
function read(item, data, large) {
  if (!OUTCOMES.has(item.outcome)) throw new ProtocolError(`the outcome is ${clip(item.outcome)}`);
  const reader = new Placed(data, large);
  const named = (/** @type {any[]} */ values) =>
    new Map(values.map(({ name, value }) => [String(name), reader.decode(value)]));
  const bytes = (/** @type {{at: number, size: number}} */ { at, size }) => {
    if (!(at >= 0 && size >= 0 && at + size <= data.length)) throw new ProtocolError(`${size} bytes at ${at} are missing`);
    return data.slice(at, at + size);
  };
  const others = Object.entries(item.others ?? {}).map(
    ([index, values]) =>
      /** @type {[number, Tensor[]]} */ ([Number(index), values.map((/** @type {any} */ it) => reader.tensor(it))]),
  );
  return {
    id: String(item.id),
    operator: String(item.operator),
    form: item.form ?? "plain",
    outcome: item.outcome,
    core: item.core === true,
    clauses: item.clauses ?? [],
    detail: item.detail ?? "",
    force: item.force ?? "",
    reworded: item.reworded ?? "",
    readings: item.readings ?? [],
    tags: item.tags ?? [],
    tolerance: item.tolerance ?? {},
    drawn: item.drawn ?? {},
    model: bytes(item.model),
    files: new Map((item.files ?? []).map((/** @type {any} */ file) => [String(file.name), bytes(file)])),
    inputs: named(item.inputs ?? []),
    earlier: item.earlier ? named(item.earlier) : null,
    outputs: (item.outputs ?? []).map(String),
    expected: item.expected?.map((/** @type {any} */ value) => (value === null ? null : reader.decode(value))) ?? null,
    bounds: item.bounds?.map((/** @type {any} */ value) => reader.tensor(value)) ?? null,
    others: new Map(others),
  };
}

/** The members of a zip archive. */
class Archive {
  /** @type {Blob} */
  #blob;
  /** @type {Map<string, Entry>} */
  #entries;

  /**
   * @param {Blob} blob
   * @param {Map<string, Entry>} entries
   */
  constructor(blob, entries) {
    this.#blob = blob;
    this.#entries = entries;
  }

  /**
   * Return the content of a member.
   *
   * @param {string} name
   * @returns {Promise<Uint8Array | null>} null: there is no such member
   * @throws {PackError} it is damaged
   */
  async read(name) {
    const entry = this.#entries.get(name);
    if (entry === undefined) return null;
    const { at, packed, size, method, crc } = entry;
    if (size > MOST_MEMBER) throw damaged(`${clip(name)} has ${size} bytes, but ${MOST_MEMBER} are the most that are read`);
    const header = await view(this.#blob, at, at + LOCAL_SIZE);
    if (header.byteLength < LOCAL_SIZE || header.getUint32(0, true) !== LOCAL_HEADER) {
      throw damaged(`${clip(name)} is not where the directory of the archive places it`);
    }
    const start = at + LOCAL_SIZE + header.getUint16(26, true) + header.getUint16(28, true);
    const content = this.#blob.slice(start, start + packed);
    let bytes;
    if (method === STORED) bytes = new Uint8Array(await content.arrayBuffer());
    else if (method === DEFLATED) bytes = await inflated(content, size, name);
    else throw damaged(`${clip(name)} has compression method ${method}; expected deflate`);
    if (bytes.length !== size || checksum(bytes) !== crc) throw damaged(`${clip(name)} is cut off or changed`);
    return bytes;
  }
}

/**
 * @param {Blob} blob
 * @param {number} from
 * @param {number} to
 * @returns {Promise<DataView>}
 */
async function view(blob, from, to) {
  return new DataView(await blob.slice(from, to).arrayBuffer());
}

/**
 * Read the directory of a zip archive, which is at its end.
 *
 * @param {Blob} blob
 * @returns {Promise<Map<string, Entry>>}
 * @throws {PackError} it has none, or one of an archive that is larger than 4 GiB
 */
async function directory(blob) {
  const from = Math.max(0, blob.size - END_SIZE - MOST_COMMENT);
  const tail = await view(blob, from, blob.size);
  let end = tail.byteLength - END_SIZE;
  while (end >= 0 && tail.getUint32(end, true) !== DIRECTORY_END) end -= 1;
  if (end < 0) throw damaged("it has no zip directory at its end");
  const number = tail.getUint16(end + 10, true);
  const size = tail.getUint32(end + 12, true);
  const start = tail.getUint32(end + 16, true);
  if (start === ZIP64 || size === ZIP64 || number === 0xffff) {
    throw new PackError("this pack is a zip64 archive, which this page does not read; write several smaller packs");
  }
  const listed = await view(blob, start, start + size);
  if (listed.byteLength < size) throw damaged("its zip directory is cut off");
  /** @type {Map<string, Entry>} */
  const entries = new Map();
  for (let at = 0, done = 0; done < number; done += 1) {
    if (at + ENTRY_SIZE > size || listed.getUint32(at, true) !== DIRECTORY_ENTRY) {
      throw damaged("its zip directory is damaged");
    }
    const [name, extra, comment] = [28, 30, 32].map((place) => listed.getUint16(at + place, true));
    if (at + ENTRY_SIZE + name > size) throw damaged("its zip directory is damaged");
    const text = new TextDecoder().decode(new Uint8Array(listed.buffer, at + ENTRY_SIZE, name));
    entries.set(text, {
      method: listed.getUint16(at + 10, true),
      crc: listed.getUint32(at + 16, true),
      packed: listed.getUint32(at + 20, true),
      size: listed.getUint32(at + 24, true),
      at: listed.getUint32(at + 42, true),
    });
    at += ENTRY_SIZE + name + extra + comment;
  }
  return entries;
}

/**
 * @param {Blob} content - compressed
 * @param {number} size - of the result; more bytes are an error, so that a small file cannot fill the memory
 * @param {string} name
 * @returns {Promise<Uint8Array>}
 */
async function inflated(content, size, name) {
  const whole = new Uint8Array(size);
  let filled = 0;
  try {
    const reader = content.stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (filled + next.value.length > size) throw new RangeError("too many bytes");
      whole.set(next.value, filled);
      filled += next.value.length;
    }
  } catch {
    throw damaged(`${clip(name)} cannot be decompressed`);
  }
  return whole.subarray(0, filled);
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

/**
 * @param {Uint8Array} bytes
 * @returns {number} their CRC-32
 */
function checksum(bytes) {
  let value = 0xffffffff;
  for (const byte of bytes) value = CRC_TABLE[(value ^ byte) & 0xff] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

/**
 * @param {Uint8Array} bytes
 * @returns {Promise<string>} their SHA-256 digest in hexadecimal digits
 */
async function sha256(bytes) {
  const digest = await crypto.subtle.digest("SHA-256", /** @type {BufferSource} */ (bytes));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
