// SPDX-License-Identifier: Apache-2.0
/**
 * Compares an answer with the expected values of a case, within its tolerance.
 *
 * The order is: number of outputs, types, shapes, values. If an output may have several values or orders, the ones nearest
 * to the answer are the expected ones. NaN equals NaN with any payload, and an infinity equals only itself. Integers,
 * booleans and strings are compared exactly. harness/onnx_conformance/case/compare.py has the same rules in Python.
 *
 * This module works in browsers and in Node.js.
 *
 * @module compare
 */

import { count, elementType } from "../../backends/values.mjs";
import { broken } from "./drawn.mjs";
import { NotJudged, bytesOf, elements, isComplex, isFloat, parts, rounded, ulps } from "./elements.mjs";

/** @typedef {import("../../backends/values.mjs").Value} Value */
/** @typedef {import("../../backends/values.mjs").Tensor} Tensor */
/** @typedef {import("./pack.mjs").Case} Case */
/** @typedef {import("./pack.mjs").Tolerance} Tolerance */
/**
 * How an answer differs from the expected values.
 *
 * @typedef {object} Mismatch
 * @property {"wrong_count" | "wrong_type" | "wrong_shape" | "wrong_value"} verdict
 * @property {string} message - one line
 */

/**
 * Compare the answer of a runtime with the expected values of a case.
 *
 * @param {Case} item - a case with expected values
 * @param {Value[]} actual - the outputs of the runtime
 * @returns {Mismatch | null} null: all outputs are within the tolerance
 * @throws {NotJudged} this module has no rules for an element type or a part of the tolerance
 */
export function compare(item, actual) {
  const { tolerance } = item;
  const given = /** @type {(Value | null)[]} */ (item.expected);
  if (given.length !== actual.length) {
    return wrong("wrong_count", "outputs", `${given.length} outputs`, `${actual.length} outputs`);
  }
  const expected = nearest(item, given, actual);
  for (const [index, wanted] of expected.entries()) {
    const where = `outputs[${index}]`;
    const got = actual[index];
    const drawn = item.drawn[index];
    if (wanted === null || drawn) {
      if (!drawn) throw new NotJudged("an output without expected values");
      const mismatch = ofDrawn(where, drawn, got, actual);
      if (mismatch) return mismatch;
      continue;
    }
    const exact = tolerance.any_of?.[index] && !tolerance.any_of[index].elementwise;
    const bound = item.bounds && !exact ? spread(item.bounds[index], wanted) : null;
    const mismatch = ofValue(where, wanted, got, tolerance, bound) ?? ofSums(index, wanted, got, tolerance, bound);
    if (mismatch) return mismatch;
  }
  return null;
}

/**
 * Return the bound of each element of an output.
 *
 * @param {Tensor} bound - its shape is that of the output, or one that is broadcast to it, such as []
 * @param {Value} output
 * @returns {Float64Array}
 * @throws {NotJudged} the output is not a tensor
 */
function spread(bound, output) {
  const tensor = unwrapped(output);
  if (tensor.kind !== "tensor") throw new NotJudged(`bounds of ${kindOf(tensor)}`);
  const values = /** @type {Float64Array} */ (elements(bound));
  if (values.length === count(tensor.shape)) return values;
  const missing = tensor.shape.length - bound.shape.length;
  return Float64Array.from({ length: count(tensor.shape) }, (_, flat) => {
    const indices = place(flat, tensor.shape).slice(missing);
    return values[indices.reduce((at, index, axis) => at * bound.shape[axis] + (bound.shape[axis] === 1 ? 0 : index), 0)];
  });
}

/**
 * @param {Mismatch["verdict"]} verdict
 * @param {string} where
 * @param {string} expected
 * @param {string} actual
 * @returns {Mismatch}
 */
const wrong = (verdict, where, expected, actual) => ({ verdict, message: `${where}: expected ${expected}, got ${actual}` });

/**
 * @param {Value} value
 * @returns {string} its kind in terms of ONNX
 */
function kindOf(value) {
  if (value.kind === "tensor") return `tensor(${elementType(value.type).name})`;
  return value.kind === "optional" ? "an empty optional" : `a ${value.kind}`;
}

/**
 * @param {Value} value
 * @returns {Value} the value of an optional that has one
 */
const unwrapped = (value) => (value.kind === "optional" && value.item !== null ? unwrapped(value.item) : value);

/**
 * @param {string} where
 * @param {Value} expected
 * @param {Value} actual
 * @param {Tolerance} tolerance
 * @param {ArrayLike<number> | null} bound
 * @returns {Mismatch | null}
 */
function ofValue(where, expected, actual, tolerance, bound) {
  const [wanted, got] = [unwrapped(expected), unwrapped(actual)];
  if (wanted.kind !== got.kind) return wrong("wrong_type", where, kindOf(wanted), kindOf(got));
  if (wanted.kind === "tensor") return ofTensor(where, wanted, /** @type {Tensor} */ (got), tolerance, bound);
  if (wanted.kind === "optional") return null;
  if (wanted.kind === "map") throw new NotJudged("a map");
  const items = /** @type {import("../../backends/values.mjs").Sequence} */ (got).items;
  if (wanted.items.length !== items.length) {
    return wrong("wrong_count", where, `${wanted.items.length} elements`, `${items.length} elements`);
  }
  for (const [index, inner] of wanted.items.entries()) {
    const mismatch = ofValue(`${where}[${index}]`, inner, items[index], tolerance, bound);
    if (mismatch) return mismatch;
  }
  return null;
}

/**
 * @param {string} where
 * @param {{type: number, shape: number[]}} wanted
 * @param {{type: number, shape: number[]}} got
 * @returns {Mismatch | null} a difference in type or shape
 */
function unlike(where, wanted, got) {
  if (wanted.type !== got.type) {
    const [a, b] = [wanted, got].map(({ type }) => `tensor(${elementType(type).name})`);
    return wrong("wrong_type", where, a, b);
  }
  if (String(wanted.shape) !== String(got.shape) || wanted.shape.length !== got.shape.length) {
    const [a, b] = [wanted, got].map(({ shape }) => `shape [${shape.join(", ")}]`);
    return wrong("wrong_shape", where, a, b);
  }
  return null;
}

/**
 * @param {string} where
 * @param {Tensor} wanted
 * @param {Tensor} got
 * @param {Tolerance} tolerance
 * @param {ArrayLike<number> | null} bound
 * @returns {Mismatch | null}
 */
function ofTensor(where, wanted, got, tolerance, bound) {
  const other = unlike(where, wanted, got);
  if (other) return other;
  const differs = unequal(wanted, got, tolerance, bound);
  const first = differs.indexOf(1);
  if (first < 0) return null;
  const total = differs.reduce((sum, one) => sum + one, 0);
  const [a, b] = [wanted, got].map((tensor) => shown(tensor, first));
  const message =
    `${where}: ${total} of ${differs.length} elements differ, the first at [${place(first, wanted.shape).join(", ")}]: ` +
    `expected ${a}, got ${b}`;
  return { verdict: "wrong_value", message };
}

/**
 * @param {number} flat
 * @param {number[]} shape
 * @returns {number[]} the indices of an element
 */
function place(flat, shape) {
  const indices = [];
  let rest = flat;
  for (const dim of [...shape].reverse()) {
    indices.unshift(rest % dim);
    rest = Math.floor(rest / dim);
  }
  return indices;
}

/**
 * Return an element as text.
 *
 * @param {Tensor} tensor
 * @param {number} index
 * @returns {string}
 */
export function shown(tensor, index) {
  if (isComplex(tensor.type)) return `(${parts(tensor).map((part) => shown(part, index)).join(", ")})`;
  const element = elements(tensor)[index];
  if (typeof element === "string") return JSON.stringify(element);
  return Object.is(element, -0) ? "-0" : String(element);
}

/**
 * Mark the elements that are outside the tolerance.
 *
 * @param {Tensor} wanted
 * @param {Tensor} got - of the same type and shape
 * @param {Tolerance} tolerance
 * @param {ArrayLike<number> | null} bound - the absolute error that is allowed for each element
 * @returns {Uint8Array} 1 for each such element
 * @throws {NotJudged} this module does not read the element type
 */
export function unequal(wanted, got, tolerance, bound) {
  const open = (/** @type {number} */ index) => bound !== null && bound[index] === Infinity;
  if (isComplex(wanted.type)) {
    const [real, imaginary] = [0, 1].map((part) => unequal(parts(wanted)[part], parts(got)[part], tolerance, bound));
    return real.map((one, index) => one | imaginary[index]);
  }
  const [a, b] = [elements(wanted), elements(got)];
  const size = count(wanted.shape);
  const differs = new Uint8Array(size);
  if (!isFloat(wanted.type)) {
    for (let index = 0; index < size; index += 1) differs[index] = Number(a[index] !== b[index] && !open(index));
    return differs;
  }
  const { ulp = 0, rtol = 0, atol = 0, signed_zero: signed = false, interval } = tolerance;
  const far = ulp ? ulps(wanted, got) : null;
  const [low, high] = interval ? interval.map((limit) => rounded(wanted.type, limit)) : [-Infinity, Infinity];
  for (let index = 0; index < size; index += 1) {
    if (open(index)) continue;
    const [x, y] = [Number(a[index]), Number(b[index])];
    const zeros = x === 0 && y === 0;
    const same = (x === y || (Number.isNaN(x) && Number.isNaN(y))) && !(signed && zeros && !Object.is(x, y));
    const distance = Math.abs(x - y);
    const near =
      Number.isFinite(x) && Number.isFinite(y) && y >= low && y <= high &&
      !(signed && zeros) && // The sign of zero has no distance, so no tolerance covers it.
      (((rtol || atol) && distance <= atol + rtol * Math.abs(x)) ||
        (bound !== null && distance <= bound[index]) ||
        (far !== null && far[index] <= ulp));
    differs[index] = Number(!same && !near);
  }
  return differs;
}

/**
 * @param {number} index
 * @param {Value} expected
 * @param {Value} actual
 * @param {Tolerance} tolerance
 * @param {ArrayLike<number> | null} bound
 * @returns {Mismatch | null} a wrong sum of a lane, although each element is within the tolerance
 */
function ofSums(index, expected, actual, { sums }, bound) {
  const [wanted, got] = [unwrapped(expected), unwrapped(actual)];
  if (!sums || sums.output !== index || wanted.kind !== "tensor" || got.kind !== "tensor") return null;
  const [a, b] = [elements(wanted), elements(got)];
  /** @type {Map<string, {sum: number, known: boolean}>} */
  const lanes = new Map();
  for (let flat = 0; flat < a.length; flat += 1) {
    const indices = place(flat, wanted.shape).map((at, axis) => (sums.axes.includes(axis) ? ":" : at));
    const key = indices.join(", ");
    const lane = lanes.get(key) ?? { sum: 0, known: true };
    lane.sum += Number(b[flat]);
    if (!Number.isFinite(Number(a[flat])) || bound?.[flat] === Infinity) lane.known = false;
    lanes.set(key, lane);
  }
  for (const [key, { sum, known }] of lanes) {
    if (known && Math.abs(sum - sums.total) > sums.within) {
      const message =
        `outputs[${index}]: each element is near enough, but [${key}] sums to ${sum}; expected ${sums.total} within ` +
        `${sums.within}`;
      return { verdict: "wrong_value", message };
    }
  }
  return null;
}

/**
 * @param {string} where
 * @param {any} drawn - the properties of the output, as `drawn` of a case describes them
 * @param {Value} got
 * @param {Value[]} actual
 * @returns {Mismatch | null}
 */
function ofDrawn(where, drawn, got, actual) {
  if (got.kind !== "tensor") return wrong("wrong_type", where, `tensor(${drawn.type})`, kindOf(got));
  if (elementType(got.type).name !== drawn.type) {
    return wrong("wrong_type", where, `tensor(${drawn.type})`, kindOf(got));
  }
  const other = unlike(where, { type: got.type, shape: drawn.shape }, got);
  if (other) return other;
  const why = broken(drawn, got, actual);
  return why ? { verdict: "wrong_value", message: `${where}: ${why}` } : null;
}

/**
 * Return the permitted values that are nearest to an answer, in its order.
 *
 * @param {Case} item
 * @param {(Value | null)[]} expected
 * @param {Value[]} actual
 * @returns {(Value | null)[]}
 */
function nearest(item, expected, actual) {
  const { any_of: several = {}, any_order: order } = item.tolerance;
  const chosen = expected.map((value, index) => {
    const answer = unwrapped(actual[index]);
    const choice = several[index];
    if (!choice || value === null || value.kind !== "tensor" || answer.kind !== "tensor") return value;
    const values = [value, ...(item.others.get(index) ?? [])];
    return (choice.elementwise ? byElement : asWhole)(values, answer, item.tolerance);
  });
  return order ? reordered(chosen, actual, order) : chosen;
}

/**
 * @param {Value | null} value
 * @param {Value} answer
 * @returns {boolean} whether both are tensors of one type and shape
 */
function alike(value, answer) {
  return value?.kind === "tensor" && answer.kind === "tensor" && unlike("", value, answer) === null;
}

/**
 * @param {Tensor[]} values
 * @param {Tensor} answer
 * @param {Tolerance} tolerance
 * @returns {Tensor} the value that differs least
 */
function asWhole(values, answer, tolerance) {
  const distances = values.map((value) => {
    if (!alike(value, answer)) return [Number(value.type !== answer.type), Number(unlike("", value, answer) !== null), 0];
    return [0, 0, unequal(value, answer, tolerance, null).reduce((sum, one) => sum + one, 0)];
  });
  const less = (/** @type {number[]} */ a, /** @type {number[]} */ b) => {
    const at = a.findIndex((one, index) => one !== b[index]);
    return at >= 0 && a[at] < b[at];
  };
  return values.reduce((best, value, index) => (less(distances[index], distances[values.indexOf(best)]) ? value : best));
}

/**
 * @param {Tensor[]} values - of one type and shape
 * @param {Tensor} answer
 * @param {Tolerance} tolerance
 * @returns {Tensor} each element of the value that it is nearest to
 */
function byElement([first, ...others], answer, tolerance) {
  if (!alike(first, answer)) return first;
  return others.reduce((chosen, value) => {
    const differs = unequal(value, answer, tolerance, null);
    const from = Array.from(differs, (one, index) => [one ? chosen : value, index]);
    return composed(chosen, /** @type {[Tensor, number][]} */ (from));
  }, first);
}

/**
 * @param {Tensor} like - of the type and shape of the result
 * @param {[Tensor, number][]} from - for each element, the tensor and the index to take it from
 * @returns {Tensor}
 */
function composed(like, from) {
  const { type, shape } = like;
  if (like.strings) {
    const strings = from.map(([tensor, index]) => /** @type {string[]} */ (tensor.strings)[index]);
    return { kind: "tensor", type, shape, strings };
  }
  const { bits, name } = elementType(type);
  if (bits < 8) throw new NotJudged(`several values or orders of ${name}`);
  const bytes = bits / 8;
  const data = new Uint8Array(from.length * bytes);
  for (const [index, [tensor, source]] of from.entries()) {
    data.set(bytesOf(tensor.data).subarray(source * bytes, (source + 1) * bytes), index * bytes);
  }
  return { kind: "tensor", type, shape, data };
}

/**
 * Return the expected outputs in the order of an answer. Rows that the answer lacks get the remaining places.
 *
 * @param {(Value | null)[]} expected
 * @param {Value[]} actual
 * @param {{axis: number, lanewise: boolean}} order
 * @returns {(Value | null)[]}
 */
function reordered(expected, actual, order) {
  if (!expected.every((value, index) => alike(value, actual[index]))) return expected;
  const [wanted, got] = [/** @type {Tensor[]} */ (expected), /** @type {Tensor[]} */ (actual)];
  // First match rows that are identical in all outputs, then equal rows, then rows with equal integers (an index).
  const ways = [identity, equality, (/** @type {Tensor} */ it) => (isFloat(it.type) ? null : equality(it))];
  const keys = ways.map((way) => [wanted, got].map((tensors) => rowKeys(tensors, way, order)));
  const places = keys[0][0].map((_, lane) => matched(keys.map(([a, b]) => [a[lane], b[lane]])));
  return wanted.map((tensor) => {
    const { at, lanes } = rows(tensor.shape, order);
    /** @type {[Tensor, number][]} */
    const from = Array.from({ length: count(tensor.shape) });
    for (let lane = 0; lane < lanes.length; lane += 1) {
      for (const [to, source] of places[order.lanewise ? lane : 0].entries()) {
        from[at(to, lanes[lane])] = [tensor, at(source, lanes[lane])];
      }
    }
    return composed(tensor, from);
  });
}

/**
 * @param {number[]} shape
 * @param {{axis: number, lanewise: boolean}} order
 * @returns {{size: number, lanes: number[], at: (place: number, lane: number) => number}} the number of places along the
 *   axis, the positions on the other axes, and the index of an element
 */
function rows(shape, { axis }) {
  const size = shape[axis];
  const inner = count(shape.slice(axis + 1));
  const lanes = Array.from({ length: count(shape.slice(0, axis)) * inner }, (_, lane) => lane);
  return { size, lanes, at: (to, lane) => (Math.floor(lane / inner) * size + to) * inner + (lane % inner) };
}

/**
 * @param {Tensor} tensor
 * @returns {string[]} a text for each element that distinguishes the two zeros, and different NaNs
 */
function identity(tensor) {
  if (!isFloat(tensor.type) || isComplex(tensor.type)) return equality(tensor);
  const bytes = elementType(tensor.type).bits / 8;
  const data = bytesOf(tensor.data);
  return Array.from({ length: count(tensor.shape) }, (_, index) => String(data.subarray(index * bytes, (index + 1) * bytes)));
}

/**
 * @param {Tensor} tensor
 * @returns {string[]} a text for each element, the same for equal elements
 */
function equality(tensor) {
  if (isComplex(tensor.type)) {
    const [real, imaginary] = parts(tensor).map(equality);
    return real.map((one, index) => `${one} ${imaginary[index]}`);
  }
  return Array.from(elements(tensor), (element) => (typeof element === "string" ? JSON.stringify(element) : `${element}`));
}

/**
 * @param {Tensor[]} tensors
 * @param {(tensor: Tensor) => string[] | null} way - returns a text for each element; null: the tensor is not compared
 * @param {{axis: number, lanewise: boolean}} order
 * @returns {string[][]} for each lane, a text for each row; there is one lane if whole rows change places
 */
function rowKeys(tensors, way, order) {
  /** @type {string[][][]} */
  const made = [];
  for (const tensor of tensors) {
    const texts = way(tensor);
    const { size, lanes, at } = rows(tensor.shape, order);
    const of = (/** @type {number[]} */ own) =>
      Array.from({ length: size }, (_, to) => (texts ? own.map((lane) => texts[at(to, lane)]).join(" ") : ""));
    made.push(order.lanewise ? lanes.map((lane) => of([lane])) : [of(lanes)]);
  }
  return made[0].map((row, lane) => row.map((_, to) => made.map((tensor) => tensor[lane][to]).join(" | ")));
}

/**
 * @param {string[][][]} keys - pairs of the texts of the expected and of the actual rows. Rows with the same text in the
 *   first pair match; the remaining rows are matched by the second pair, and so on
 * @returns {number[]} for each actual row, the place of the matching expected row
 */
function matched(keys) {
  const size = keys[0][0].length;
  const free = new Set(Array.from({ length: size }, (_, index) => index));
  /** @type {number[]} */
  const places = Array.from({ length: size }, () => -1);
  for (const [expected, actual] of keys) {
    /** @type {Map<string, number[]>} */
    const left = new Map();
    for (const index of free) {
      const several = left.get(expected[index]);
      if (several) several.push(index);
      else left.set(expected[index], [index]);
    }
    for (const [index, text] of actual.entries()) {
      const found = places[index] < 0 ? left.get(text)?.shift() : undefined;
      if (found === undefined) continue;
      places[index] = found;
      free.delete(found);
    }
  }
  const others = [...free].sort((a, b) => a - b);
  return places.map((at) => (at < 0 ? /** @type {number} */ (others.shift()) : at));
}
