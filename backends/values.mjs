// SPDX-License-Identifier: Apache-2.0
/**
 * Values of models in JavaScript, as the wire format describes them (README.md).
 *
 * This module works in Node.js and in browsers. It has the same content as the part of protocol.py about values:
 * element types, sizes, and reading and writing the bytes of tensors.
 *
 * @module values
 */

/**
 * A tensor. The shape of a scalar is [].
 *
 * @typedef {object} Tensor
 * @property {"tensor"} kind
 * @property {number} type - a number of TensorProto.DataType
 * @property {number[]} shape - integers of at least 0
 * @property {Uint8Array} [data] - the elements as in TensorProto.raw_data: row-major, little-endian, types below a byte
 *   packed; absent if the elements are strings
 * @property {string[]} [strings] - the elements in row-major order, if they are strings
 */
/**
 * @typedef {object} Sequence
 * @property {"sequence"} kind
 * @property {Value[]} items
 */
/**
 * @typedef {object} ValueMap
 * @property {"map"} kind
 * @property {Tensor} keys - of shape [n], strings or integers
 * @property {Value[]} values - n values
 */
/**
 * @typedef {object} Optional
 * @property {"optional"} kind
 * @property {Value | null} item - null: the optional is empty
 */
/** @typedef {Tensor | Sequence | ValueMap | Optional} Value */
/**
 * An element type.
 *
 * @typedef {object} ElementType
 * @property {number} number - of TensorProto.DataType
 * @property {string} name - such as float16
 * @property {number} bits - of one element; 0 for strings
 */

/** Values may contain each other to this depth. */
export const MAX_DEPTH = 32;

/** The number of the element type string. */
export const STRING = 8;

const BYTE = 8;
const SHOWN = 80; // Characters of a value in a message.

/**
 * All element types: number, name, and bits of one element.
 *
 * @type {ElementType[]}
 */
export const ELEMENT_TYPES = /** @type {[number, string, number][]} */ ([
  [1, "float", 32], [2, "uint8", 8], [3, "int8", 8], [4, "uint16", 16], [5, "int16", 16], [6, "int32", 32],
  [7, "int64", 64], [STRING, "string", 0], [9, "bool", 8], [10, "float16", 16], [11, "double", 64], [12, "uint32", 32],
  [13, "uint64", 64], [14, "complex64", 64], [15, "complex128", 128], [16, "bfloat16", 16], [17, "float8e4m3fn", 8],
  [18, "float8e4m3fnuz", 8], [19, "float8e5m2", 8], [20, "float8e5m2fnuz", 8], [21, "uint4", 4], [22, "int4", 4],
  [23, "float4e2m1", 4], [24, "float8e8m0", 8], [25, "uint2", 2], [26, "int2", 2], [27, "float6e2m3", 6],
  [28, "float6e3m2", 6],
]).map(([number, name, bits]) => ({ number, name, bits }));

const ROWS = new Map(ELEMENT_TYPES.map((row) => [row.number, row]));

/** The data does not have the wire format. The message names the problem and the expected form. */
export class ProtocolError extends Error {}

/**
 * Throw unless a condition is true.
 *
 * @param {boolean} holds
 * @param {() => string} text - returns the message; a function, because composing messages that nobody reads takes time
 * @throws {ProtocolError}
 */
export function ensure(holds, text) {
  if (!holds) throw new ProtocolError(text());
}

/**
 * Return a short form of any value, for messages.
 *
 * @param {unknown} value
 * @returns {string} at most 80 characters of JSON
 */
export const clip = (value) => String(JSON.stringify(value)).slice(0, SHOWN);

/**
 * Return the element type with a number.
 *
 * @param {number} number - of TensorProto.DataType
 * @returns {ElementType}
 * @throws {ProtocolError} there is no such element type
 */
export function elementType(number) {
  const row = ROWS.get(number);
  if (row === undefined) {
    throw new ProtocolError(`element type ${clip(number)}: expected a number of TensorProto.DataType`);
  }
  return row;
}

/**
 * Return the number of elements of a tensor.
 *
 * @param {number[]} shape
 * @returns {number}
 * @throws {ProtocolError} the shape is not a list of integers of at least 0
 */
export function count(shape) {
  ensure(
    Array.isArray(shape) && shape.every((dim) => Number.isSafeInteger(dim) && dim >= 0),
    () => `tensor shape ${clip(shape)}: expected a list of integers of at least 0`,
  );
  return shape.reduce((left, right) => left * right, 1);
}

/**
 * Return the number of bytes that a tensor has in TensorProto.raw_data.
 *
 * @param {number} number - of the element type
 * @param {number[]} shape
 * @returns {number} 0 for strings, which are in the header
 * @throws {ProtocolError} the element type or the shape is invalid
 */
export function packedSize(number, shape) {
  return Math.ceil((count(shape) * elementType(number).bits) / BYTE);
}

/** Reads the values of a message, one after another, from its bytes. */
export class Payload {
  /** @param {Uint8Array} bytes - of all tensors, in the order of the header */
  constructor(bytes) {
    this.bytes = bytes;
    this.offset = 0;
  }

  /**
   * Return the next value.
   *
   * @param {any} described - its description in the header
   * @param {number} [depth] - the number of values that contain it
   * @returns {Value} its bytes are a copy, and therefore aligned for every typed array
   * @throws {ProtocolError} the description is invalid, or bytes are missing
   */
  decode(described, depth = 0) {
    ensure(depth <= MAX_DEPTH, () => `values lie over ${MAX_DEPTH} deep in one another`);
    const inner = (/** @type {any} */ item) => this.decode(item, depth + 1);
    const { kind } = described ?? {};
    if (kind === "tensor") return this.tensor(described);
    if (kind === "sequence") return { kind, items: list(described.items, "items").map(inner) };
    if (kind === "map") {
      const keys = /** @type {Tensor} */ (inner(described.keys)); // Before the values, as their bytes are.
      const values = list(described.values, "values").map(inner);
      ensure(count(keys.shape) === values.length, () => `${values.length} values for ${clip(keys.shape)} keys`);
      return { kind, keys, values };
    }
    ensure(kind === "optional", () => `value kind ${clip(kind)}: expected tensor, sequence, map or optional`);
    return { kind, item: described.item == null ? null : inner(described.item) };
  }

  /**
   * Return the next tensor.
   *
   * @param {any} described - its description in the header
   * @returns {Tensor}
   * @throws {ProtocolError} the description is invalid, or bytes are missing
   */
  tensor({ kind, type, shape, strings }) {
    const size = packedSize(type, shape);
    if (type === STRING) {
      const expected = count(shape);
      ensure(
        list(strings, "strings").length === expected && strings.every((/** @type {any} */ it) => typeof it === "string"),
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

  /**
   * Check that all bytes were read.
   *
   * @throws {ProtocolError} bytes are left over
   */
  end() {
    const left = this.bytes.length - this.offset;
    ensure(left === 0, () => `${left} bytes are left over after the last value`);
  }
}

/**
 * @param {any} value
 * @param {string} key
 * @returns {any[]}
 */
function list(value, key) {
  ensure(Array.isArray(value), () => `"${key}" of a value is ${clip(value)}: expected a list`);
  return value;
}

/**
 * Return the description of a value for a header.
 *
 * @param {any} value - a {@link Value}; anything else is an error
 * @param {Uint8Array[]} buffers - the bytes of its tensors are appended
 * @returns {object}
 * @throws {ProtocolError} it is not a value, or its bytes do not have the size of its shape
 */
export function encode(value, buffers) {
  const inner = (/** @type {any} */ item) => encode(item, buffers);
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
  buffers.push(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return { kind, type, shape };
}
