// SPDX-License-Identifier: Apache-2.0
/**
 * The elements of tensors as JavaScript values, and how far floating-point numbers are apart.
 *
 * This module works in browsers and in Node.js.
 *
 * @module elements
 */

import { STRING, count, elementType } from "../../backends/values.mjs";

/** @typedef {import("../../backends/values.mjs").Tensor} Tensor */
/** @typedef {string | number | bigint} Element */

/** This module has no rules for the elements of a type, or for a kind of tolerance. The message is the reason. */
export class NotJudged extends Error {
  name = "NotJudged";
}

/** Floating-point types: bits of an element, and how to read an element at a byte offset. */
const FLOATS = new Map([
  [1, { bits: 32, read: (/** @type {DataView} */ view, /** @type {number} */ at) => view.getFloat32(at, true) }],
  [11, { bits: 64, read: (/** @type {DataView} */ view, /** @type {number} */ at) => view.getFloat64(at, true) }],
  [10, { bits: 16, read: (/** @type {DataView} */ view, /** @type {number} */ at) => half(view.getUint16(at, true)) }],
  [16, { bits: 16, read: (/** @type {DataView} */ view, /** @type {number} */ at) => brain(view.getUint16(at, true)) }],
]);
/** Complex types: the type of their parts. */
const PARTS = new Map([[14, 1], [15, 11]]);
/** Types below a byte: bits of an element, and whether it has a sign. */
const NARROW = new Map([[21, [4, false]], [22, [4, true]], [25, [2, false]], [26, [2, true]]]);
/**
 * Other types: the array that reads them.
 *
 * @type {Map<number, any>}
 */
const INTEGERS = new Map(/** @type {[number, any][]} */ ([
  [2, Uint8Array], [3, Int8Array], [4, Uint16Array], [5, Int16Array], [6, Int32Array], [7, BigInt64Array],
  [9, Uint8Array], [12, Uint32Array], [13, BigUint64Array],
]));

const scratch = new DataView(new ArrayBuffer(8));

/**
 * @param {number} bits - of a bfloat16
 * @returns {number}
 */
function brain(bits) {
  scratch.setUint32(0, bits << 16);
  return scratch.getFloat32(0);
}

/**
 * @param {number} bits - of a float16
 * @returns {number}
 */
function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
  return exponent ? sign * 2 ** (exponent - 25) * (1024 + fraction) : sign * fraction * 2 ** -24;
}

/**
 * Return whether elements are floating-point numbers, including complex ones.
 *
 * @param {number} type - a number of TensorProto.DataType
 * @returns {boolean}
 */
export const isFloat = (type) => /float|double|complex/.test(elementType(type).name);

/**
 * Return whether elements are complex numbers.
 *
 * @param {number} type
 * @returns {boolean}
 */
export const isComplex = (type) => PARTS.has(type);

/**
 * Return the real and the imaginary parts of a tensor of complex numbers.
 *
 * @param {Tensor} tensor
 * @returns {Tensor[]}
 */
export function parts({ type, shape, data }) {
  const inner = /** @type {number} */ (PARTS.get(type));
  const bytes = elementType(inner).bits / 8;
  const source = /** @type {Uint8Array} */ (data);
  return [0, 1].map((part) => {
    const own = new Uint8Array(source.length / 2);
    for (let at = 0; at < own.length; at += 1) {
      own[at] = source[Math.floor(at / bytes) * 2 * bytes + part * bytes + (at % bytes)];
    }
    return /** @type {Tensor} */ ({ kind: "tensor", type: inner, shape, data: own });
  });
}

/**
 * Return the elements of a tensor, in row-major order.
 *
 * @param {Tensor} tensor - not of complex numbers
 * @returns {ArrayLike<Element>} numbers, except BigInts for integers of 64 bits, and strings
 * @throws {NotJudged} this module does not read its element type
 */
export function elements({ type, shape, data, strings }) {
  if (type === STRING) return /** @type {string[]} */ (strings);
  const bytes = Uint8Array.from(/** @type {Uint8Array} */ (bytesOf(data))); // A copy is aligned for every array.
  const view = new DataView(bytes.buffer);
  const size = count(shape);
  const float = FLOATS.get(type);
  if (float) return Float64Array.from({ length: size }, (_, index) => float.read(view, (index * float.bits) / 8));
  const narrow = NARROW.get(type);
  if (narrow) {
    const [bits, signed] = /** @type {[number, boolean]} */ (narrow);
    return Float64Array.from({ length: size }, (_, index) => {
      const code = (bytes[Math.floor((index * bits) / 8)] >> ((index * bits) % 8)) & (2 ** bits - 1);
      return signed && code >= 2 ** (bits - 1) ? code - 2 ** bits : code;
    });
  }
  const Elements = INTEGERS.get(type);
  if (!Elements) throw new NotJudged(`elements of ${elementType(type).name}`);
  return new Elements(bytes.buffer);
}

/**
 * Return the bytes of an array.
 *
 * @param {any} data - a typed array
 * @returns {Uint8Array}
 */
export const bytesOf = (data) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/**
 * Return the signed number of representable values between zero and each element. -0 and +0 are 0.
 *
 * @param {Tensor} tensor - of floating-point numbers, not complex
 * @returns {ArrayLike<number | bigint>} BigInts for double
 */
function codes({ type, data }) {
  const bytes = Uint8Array.from(bytesOf(data));
  if (type === 11) {
    const raw = new BigInt64Array(bytes.buffer);
    return BigInt64Array.from(raw, (code) => (code < 0n ? -(code & 0x7fffffffffffffffn) : code));
  }
  if (type === 1) {
    return Float64Array.from(new Int32Array(bytes.buffer), (code) => (code < 0 ? -(code & 0x7fffffff) : code));
  }
  return Float64Array.from(new Int16Array(bytes.buffer), (code) => (code < 0 ? -(code & 0x7fff) : code));
}

/**
 * Return the distance of the elements of two tensors in units in the last place.
 *
 * @param {Tensor} wanted - of floating-point numbers, not complex
 * @param {Tensor} got - of the same type and shape
 * @returns {Float64Array}
 */
export function ulps(wanted, got) {
  const [a, b] = [codes(wanted), codes(got)];
  return Float64Array.from(a, (code, index) => {
    const distance = typeof code === "bigint" ? Number(code - /** @type {bigint} */ (b[index])) : code - Number(b[index]);
    return Math.abs(distance);
  });
}

const MANTISSA = new Map([[1, 23], [11, 52], [10, 10], [16, 7]]);
const LEAST_EXPONENT = new Map([[1, -126], [11, -1022], [10, -14], [16, -126]]);
const GREATEST = new Map([[10, 65504], [16, 3.3895313892515355e38]]);

/**
 * Return the distance of a positive number from the next one of a type.
 *
 * @param {number} type - of floating-point numbers
 * @param {number} size - of at least 0
 * @returns {number} NaN for infinity
 */
export function spacing(type, size) {
  const [mantissa, least] = [MANTISSA.get(type), LEAST_EXPONENT.get(type)].map(Number);
  if (!Number.isFinite(size)) return NaN;
  let exponent = size > 0 ? Math.floor(Math.log2(size)) : least;
  if (2 ** exponent > size && exponent > least) exponent -= 1; // The logarithm was rounded up.
  return 2 ** (Math.max(exponent, least) - mantissa);
}

/**
 * Return a number after rounding to an element type: to nearest even, or towards zero for integers.
 *
 * @param {number} type
 * @param {number} value
 * @returns {number}
 */
export function rounded(type, value) {
  if (!isFloat(type)) return Math.trunc(value);
  if (type === 11 || !Number.isFinite(value)) return value;
  if (type === 1) return Math.fround(value);
  const unit = spacing(type, Math.abs(value));
  let steps = Math.round(value / unit);
  if (Math.abs(value / unit - Math.trunc(value / unit)) === 0.5) steps = 2 * Math.round(value / unit / 2);
  const near = steps * unit;
  return Math.abs(near) > Number(GREATEST.get(type)) ? Math.sign(near) * Infinity : near;
}
