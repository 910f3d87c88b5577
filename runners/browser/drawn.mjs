// SPDX-License-Identifier: Apache-2.0
/**
 * Checks the random outputs of a case against their required properties: limits, permitted values, mean and variance.
 *
 * harness/onnx_conformance/case/properties.py has the same rules in Python. This module works in browsers and in Node.js.
 *
 * @module drawn
 */

import { count, elementType } from "../../backends/values.mjs";
import { NotJudged, bytesOf, elements, isFloat, rounded, spacing } from "./elements.mjs";

/** @typedef {import("../../backends/values.mjs").Value} Value */
/** @typedef {import("../../backends/values.mjs").Tensor} Tensor */

/** The largest permitted deviation of a mean or a variance. A correct generator exceeds it in 1 of 500 million cases. */
const SIGMAS = 6;
/** The largest distance of an element from its choice, in units in the last place. */
const CHOICE_ULP = 4;
const FLOAT = 1;
const FLOAT16 = 10;

/**
 * Return the first property that an output lacks.
 *
 * @param {any} drawn - the properties, as `drawn` of a case describes them
 * @param {Tensor} got - the output, which has the expected type and shape
 * @param {Value[]} actual - all outputs
 * @returns {string} one line; empty if the output has all properties
 * @throws {NotJudged} a property has a form that this module does not read
 */
export function broken(drawn, got, actual) {
  const values = Float64Array.from(/** @type {ArrayLike<number>} */ (elements(got)), Number);
  if (drawn.same_as !== undefined && !same(got, actual[drawn.same_as])) {
    return `the values differ from output ${drawn.same_as}, which has the same seed`;
  }
  const low = drawn.low === undefined ? -Infinity : rounded(got.type, drawn.low);
  const high = drawn.high === undefined ? Infinity : rounded(got.type, drawn.high);
  for (const value of values) {
    if (value < low) return `${value} is below ${drawn.low}`;
    if (value > high) return `${value} is above ${drawn.high}`;
  }
  if (values.some(Number.isNaN)) return "an element is NaN";
  return ofChoices(drawn, got, values, actual) || ofMoments(drawn, values);
}

/**
 * @param {Tensor} got
 * @param {Value | undefined} other
 * @returns {boolean}
 */
function same(got, other) {
  if (other?.kind !== "tensor" || String(got.shape) !== String(other.shape)) return false;
  const [a, b] = [bytesOf(got.data), bytesOf(other.data)];
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/**
 * Return one number for each element.
 *
 * @param {any} numbers - a number, or nested lists of numbers
 * @param {number} size
 * @returns {number[]}
 * @throws {NotJudged} they are neither one number nor as many as the elements
 */
function spread(numbers, size) {
  const flat = Array.isArray(numbers) ? numbers.flat(Infinity) : [numbers];
  if (flat.length === size) return flat;
  if (flat.length !== 1) throw new NotJudged("properties that are broadcast to the shape of an output");
  return Array.from({ length: size }, () => flat[0]);
}

/**
 * @param {any} drawn
 * @param {Tensor} got
 * @param {Float64Array} values
 * @param {Value[]} actual
 * @returns {string}
 */
function ofChoices(drawn, got, values, actual) {
  if (!drawn.choices?.length) return "";
  const steps = elementType(got.type).bits > 16 ? FLOAT : FLOAT16;
  /** @type {boolean[][]} */
  const near = drawn.choices.map((/** @type {any} */ choice) =>
    spread(choice, count(got.shape)).map((number, index) => {
      const wanted = rounded(got.type, number);
      const allowed = isFloat(got.type) ? CHOICE_ULP * spacing(steps, rounded(steps, Math.abs(wanted))) : 0;
      return Math.abs(values[index] - wanted) <= allowed;
    }),
  );
  if (drawn.chosen_by !== undefined) {
    const mask = actual[drawn.chosen_by];
    if (mask?.kind !== "tensor" || String(mask.shape) !== String(got.shape)) {
      return `output ${drawn.chosen_by}, which selects the values, has another shape`;
    }
    const chosen = Array.from(elements(mask), Boolean);
    const wrong = chosen.filter((second, index) => !near[second ? 1 : 0][index]).length;
    return wrong ? `${wrong} elements differ from the choice in output ${drawn.chosen_by}` : "";
  }
  const none = Array.from(values, (_, index) => near.some((one) => one[index])).filter((one) => !one).length;
  return none ? `${none} elements have none of their ${near.length} allowed values` : "";
}

/**
 * @param {any} drawn
 * @param {Float64Array} values
 * @returns {string}
 */
function ofMoments(drawn, values) {
  if (drawn.mean === undefined || drawn.deviation === undefined || !values.length) return "";
  const [means, deviations] = [drawn.mean, drawn.deviation].map((numbers) => spread(numbers, values.length));
  const scale = Math.sqrt(deviations.reduce((sum, one) => sum + one * one, 0));
  const offsets = means.map((mean, index) => values[index] - mean);
  if (!scale) {
    const close = offsets.every((offset, index) => Math.abs(offset) <= 1e-8 + 1e-5 * Math.abs(means[index]));
    return close ? "" : "the values differ from the only possible value";
  }
  const off = Math.abs(offsets.reduce((sum, one) => sum + one, 0)) / scale;
  if (off > SIGMAS) return `the mean of ${values.length} elements is ${off.toPrecision(3)} sigma from the expected one`;
  if (drawn.kurtosis === undefined) return "";
  const ratio = offsets.reduce((sum, one) => sum + one * one, 0) / scale ** 2;
  const allowed = SIGMAS * Math.sqrt(Math.max(drawn.kurtosis - 1, 0) / values.length);
  if (Math.abs(ratio - 1) <= allowed) return "";
  return `the variance of ${values.length} elements is ${ratio.toPrecision(4)} times the expected one`;
}
