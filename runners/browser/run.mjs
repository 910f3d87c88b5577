// SPDX-License-Identifier: Apache-2.0
/**
 * One run of a pack: sends each case to a runtime, and judges its reply.
 *
 * This module works in browsers and in Node.js.
 *
 * @module run
 */

import { NotJudged } from "./elements.mjs";
import { judge, lacks } from "./judge.mjs";

/** @typedef {import("./pack.mjs").Pack} Pack */
/** @typedef {import("./pack.mjs").Case} Case */
/** @typedef {import("./judge.mjs").Reply} Reply */
/** @typedef {import("./judge.mjs").Result} Result */
/**
 * What became of a case: a result, or the reason why it was not judged.
 *
 * @typedef {{item: Case, result: Result} | {item: Case, notJudged: string}} Judged
 */

/**
 * Run the cases of a pack, one after another.
 *
 * @param {Pack} pack
 * @param {(item: Case) => Promise<Reply>} ask - sends a case to the runtime
 * @param {string[]} [operators] - such as ai.onnx/Split; empty: all operators
 * @returns {AsyncGenerator<Judged>}
 * @throws {import("./pack.mjs").PackError} the pack is damaged
 */
export async function* run(pack, ask, operators = []) {
  for (const { operator } of pack.operators) {
    if (operators.length && !operators.includes(operator)) continue;
    for (const item of await pack.cases(operator)) {
      const missing = lacks(item);
      /** @type {Reply} */
      const reply = missing ? { kind: "refused", message: "", reason: missing } : await ask(item);
      try {
        yield { item, result: judge(item, reply) };
      } catch (error) {
        if (!(error instanceof NotJudged)) throw error;
        yield { item, notJudged: error.message };
      }
    }
  }
}
