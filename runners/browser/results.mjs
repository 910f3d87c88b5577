// SPDX-License-Identifier: Apache-2.0
/**
 * A result stream of a run in this page: the schema `results`, which `onnx-conformance report` and `gate` read.
 *
 * This module works in browsers and in Node.js.
 *
 * @module results
 */

/** @typedef {import("./judge.mjs").Result} Result */
/** @typedef {import("./pack.mjs").Pack} Pack */

const FORMAT = 1;

/**
 * The facts about a run.
 *
 * @typedef {object} RunFacts
 * @property {Pack} pack
 * @property {string} backend - the name of the backend in the results
 * @property {{runtime: string, version: string, provider: string}} runtime
 * @property {Date} started
 * @property {number} seconds - from start to end
 * @property {number} timeout - seconds that one case may take
 * @property {string[]} operators - the selected operators; empty: all of the pack
 * @property {boolean} whole - whether the run reached its end
 * @property {Record<string, number>} notJudged - by reason, the number of cases that were not judged
 */

/**
 * Return the lines of a result stream.
 *
 * Cases that were not judged have no line, because no verdict is true of them. Their number is in the member
 * `not_judged` of the header. A run that was stopped has no footer, so its readers report it as incomplete.
 *
 * @param {RunFacts} facts
 * @param {Result[]} results
 * @returns {string} newline-delimited JSON
 */
export function stream(facts, results) {
  const { pack, backend, runtime, started, seconds, timeout, operators, whole, notJudged } = facts;
  const { index } = pack;
  const header = {
    kind: "header",
    format: FORMAT,
    harness: String(index.made_by).split(" ").at(-1),
    onnx: String(index.onnx),
    numpy: "none",
    python: "none",
    machine: { system: platform(), processor: "browser", cores: cores() },
    browser: globalThis.navigator?.userAgent ?? "",
    started: utc(started),
    suite: { name: pack.name || "pack", digest: pack.digest, cases: index.cases },
    backends: { [backend]: { name: backend, runtime: runtime.runtime, version: runtime.version } },
    arguments: { selection: operators.map((name) => `--op ${name}`).join(" "), reference: "", jobs: 1, timeout },
    not_judged: notJudged,
  };
  /** @type {Record<string, number>} */
  const counts = {};
  for (const { verdict } of results) counts[verdict] = (counts[verdict] ?? 0) + 1;
  const footer = {
    kind: "footer",
    counts: { [backend]: counts },
    faults: [],
    finished: utc(new Date(started.getTime() + seconds * 1000)),
    seconds,
    busy: { [backend]: results.reduce((sum, one) => sum + (one.seconds ?? 0), 0) },
  };
  const lines = results.map((result) => ({ kind: "result", backend, ...result }));
  return [header, ...lines, ...(whole ? [footer] : [])].map((record) => `${JSON.stringify(record)}\n`).join("");
}

/**
 * @returns {string} the system, as the browser reports it
 */
const platform = () => globalThis.navigator?.platform ?? "unknown";

/**
 * @returns {number | null} the number of processors, if the browser reports it
 */
const cores = () => globalThis.navigator?.hardwareConcurrency ?? null;

/**
 * @param {Date} date
 * @returns {string} UTC, in seconds
 */
const utc = (date) => `${date.toISOString().slice(0, 19)}+00:00`;
