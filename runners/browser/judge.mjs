// SPDX-License-Identifier: Apache-2.0
/**
 * The verdict on the reply of a runtime to a case, with the rules of `onnx-conformance run`.
 *
 * This module works in browsers and in Node.js.
 *
 * @module judge
 */

import { STRING, count, elementType } from "../../backends/values.mjs";
import { compare, shown } from "./compare.mjs";
import { NotJudged, isComplex } from "./elements.mjs";

/** @typedef {import("../../backends/values.mjs").Value} Value */
/** @typedef {import("./pack.mjs").Case} Case */
/**
 * The reply of a runtime.
 *
 * @typedef {object} Reply
 * @property {"answer" | "refused" | "crash" | "timeout" | "fault"} kind - fault: the runtime returned a value that does
 *   not have the size of its shape
 * @property {Value[]} [outputs] - of an answer
 * @property {string} [error] - the name of an error
 * @property {string} [message]
 * @property {string | null} [reason] - of an error that reports missing support, the missing feature
 * @property {string} [phase] - of an error: load or run
 * @property {number} [seconds]
 */
/**
 * A result: the members of a line of the schema `results`, except `backend`.
 *
 * @typedef {{case: string, operator: string, verdict: string, message: string} & Record<string, any>} Result
 */

/** Forms of a case that need a feature that a session of this page lacks, and the reason in words. */
const OVERRIDDEN = "overridden";
const ONCE = "its adapter runs a model only once";
const NO_FILES = "its adapter does not accept files of a model";
const NO_OVERRIDES = "its adapter does not declare that a caller may override the default of an input";

/** Rules weaker than `must`, which runtimes need not enforce. */
const WEAKER = new Set(["should", "describes", "signature"]);
/** The message of a permitted rejection, before that of the runtime. */
const PERMITTED = "the text permits some runtimes to reject this model";
/** Verdicts that a case without a defined result has, too. */
const NEVER_OPEN = new Set(["crash", "timeout", "adapter_error"]);
const MOST_TEXT = 2000;
const MOST_VALUES = 12;
const MOST_CHARACTERS = 600;

/**
 * Return why a case cannot be sent to a runtime of this page.
 *
 * @param {Case} item
 * @returns {string} empty: it can
 */
export function lacks(item) {
  if (item.earlier) return ONCE;
  if (item.files.size) return NO_FILES;
  return item.form.split("_then_")[0] === OVERRIDDEN ? NO_OVERRIDES : "";
}

/**
 * Return the result of a case.
 *
 * @param {Case} item
 * @param {Reply} reply
 * @returns {Result}
 * @throws {NotJudged} there are no rules for an element type or a part of the tolerance
 */
export function judge(item, reply) {
  const fields = judged(item, reply);
  if (item.outcome === "unspecified" && !NEVER_OPEN.has(fields.verdict)) fields.verdict = "unspecified";
  const told = Object.entries({
    force: item.force, reworded: item.reworded, seconds: reply.seconds, error: reply.error, phase: reply.phase,
  }).filter(([, value]) => value !== undefined && value !== "");
  return {
    case: item.id, operator: item.operator, outcome: item.outcome, form: item.form, clauses: item.clauses,
    readings: item.readings, tags: item.tags, ...Object.fromEntries(told), ...fields,
    message: clean(fields.message),
  };
}

/**
 * @param {Case} item
 * @param {Reply} reply
 * @returns {{verdict: string, message: string, expected?: string, actual?: string}}
 */
function judged(item, reply) {
  const { kind, message = "", reason = null, outputs = [] } = reply;
  const wanted = item.expected?.map((value, index) => (value === null ? ofDrawn(item.drawn[index]) : brief(value)));
  const expected = wanted ? { expected: shortened(wanted.join("; ")) } : {};
  if (kind === "crash" || kind === "timeout") return { verdict: kind, message, ...expected };
  if (kind === "fault") return { verdict: "adapter_error", message };
  if (kind === "refused") {
    const why = reason === null && item.force === "optional" ? PERMITTED : reason;
    if (why !== null) return { verdict: "unsupported", message: [why, message].filter(Boolean).join(": ") };
    return item.outcome === "rejects" ? { verdict: "pass", message } : { verdict: "refused", message, ...expected };
  }
  const actual = shortened(outputs.map(brief).join("; "));
  if (item.outcome === "rejects") {
    const weak = WEAKER.has(item.force);
    const rule = weak ? ` (it violates only a rule of the kind ${item.force})` : "";
    const detail = item.detail ? `: ${item.detail}` : "";
    const verdict = weak ? "lenient" : "accepted_invalid";
    return { verdict, message: `an invalid model was accepted${rule}${detail}`, expected: "refused", actual };
  }
  if (item.expected === null) return { verdict: "unspecified", message: "", actual };
  const mismatch = compare(item, outputs);
  return mismatch === null ? { verdict: "pass", message: "" } : { ...mismatch, ...expected, actual };
}

/**
 * @param {any} drawn
 * @returns {string}
 */
const ofDrawn = (drawn) => (drawn ? `${drawn.type}[${drawn.shape}] drawn at random` : "any value");

/**
 * @param {string} text
 * @returns {string}
 */
const shortened = (text) => (text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}...` : text);

/**
 * @param {string} text - from a runtime
 * @returns {string} without control characters, and cut off
 */
function clean(text) {
  // eslint-disable-next-line no-control-regex
  const plain = text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, "").trim();
  return plain.toWellFormed().slice(0, MOST_TEXT);
}

/**
 * Return a value as in `float[3] 0 1 2`.
 *
 * @param {Value} value
 * @returns {string} at most 12 elements
 */
export function brief(value) {
  if (value.kind === "optional") return value.item === null ? "an empty optional" : brief(value.item);
  if (value.kind === "sequence") return `sequence of ${value.items.length}`;
  if (value.kind === "map") return `map of ${value.values.length}`;
  const { type, shape } = value;
  const size = count(shape);
  const head = { ...value, ...firstElements(value, size) };
  let texts;
  try {
    texts = Array.from({ length: Math.min(size, MOST_VALUES) }, (_, index) => shown(head, index));
  } catch (error) {
    if (!(error instanceof NotJudged)) throw error;
    texts = ["..."];
  }
  const more = size > MOST_VALUES ? " ..." : "";
  return `${elementType(type).name}[${shape}] ${texts.join(" ")}${more}`.trim();
}

/**
 * @param {import("../../backends/values.mjs").Tensor} tensor
 * @param {number} size
 * @returns {object} the members of a tensor of its first elements, which are read in less time
 */
function firstElements({ type, data, strings }, size) {
  const { bits } = elementType(type);
  if (size <= MOST_VALUES || type === STRING || bits < 8 || isComplex(type)) return { data, strings };
  const all = /** @type {Uint8Array} */ (data);
  const bytes = new Uint8Array(all.buffer, all.byteOffset, (MOST_VALUES * bits) / 8);
  return { shape: [MOST_VALUES], data: bytes };
}
