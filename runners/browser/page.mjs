// SPDX-License-Identifier: Apache-2.0
/**
 * The page: reads the options, runs a pack, and shows counts and failures.
 *
 * Every text of a runtime or a pack becomes text of an element, and never markup.
 *
 * @module page
 */

import { PackError, openPack } from "./pack.mjs";
import { stream } from "./results.mjs";
import { run } from "./run.mjs";
import { NoRuntimeError, Runtime, bestProvider } from "./runtime.mjs";

/** @typedef {import("./judge.mjs").Result} Result */
/** @typedef {import("./pack.mjs").Pack} Pack */
/** @typedef {import("./results.mjs").RunFacts} RunFacts */

const TIMEOUT = 20; // Seconds.
const MOST_SHOWN = 500; // Failures.
const REDRAW = 200; // Milliseconds.
const NOT_JUDGED = "not judged";
/** The columns of the table. */
const COLUMNS = [
  "pass", "wrong_value", "wrong_shape", "wrong_type", "wrong_count", "refused", "accepted_invalid", "crash", "timeout",
  "adapter_error", "lenient", "unsupported", "unspecified", NOT_JUDGED,
];
const FAILURES = new Set([
  "wrong_value", "wrong_shape", "wrong_type", "wrong_count", "refused", "accepted_invalid", "crash", "timeout",
  "adapter_error",
]);

const part = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));

/**
 * @param {string} name
 * @param {string} [text]
 * @param {...Node} inner
 * @returns {HTMLElement}
 */
function element(name, text = "", ...inner) {
  const made = document.createElement(name);
  made.textContent = text;
  made.append(...inner);
  return made;
}

/**
 * @param {string} text
 * @param {boolean} [wrong]
 */
function show(text, wrong = false) {
  part("status").textContent = text;
  part("status").className = wrong ? "error" : "";
}

/** The counts and failures of a run, and the parts of the page that show them. */
class View {
  /** @type {Map<string, Map<string, number>>} */
  #counts = new Map();
  #failed = 0;
  #drawn = 0;

  constructor() {
    for (const id of ["rows", "totals", "heads", "list", "reasons"]) part(id).replaceChildren();
    for (const id of ["counts", "failures", "not-judged", "more"]) part(id).hidden = true;
    /** @type {Result[]} */
    this.results = [];
    /** @type {Record<string, number>} */
    this.notJudged = {};
    this.done = 0;
  }

  /** @param {import("./run.mjs").Judged} judged */
  add(judged) {
    this.done += 1;
    const [domain, name] = judged.item.operator.split("/");
    const verdict = "result" in judged ? judged.result.verdict : NOT_JUDGED;
    const operator = `${domain}/${name}`;
    const row = this.#counts.get(operator) ?? new Map();
    row.set(verdict, (row.get(verdict) ?? 0) + 1);
    this.#counts.set(operator, row);
    if ("notJudged" in judged) {
      this.notJudged[judged.notJudged] = (this.notJudged[judged.notJudged] ?? 0) + 1;
      return;
    }
    this.results.push(judged.result);
    if (FAILURES.has(verdict)) this.#fail(judged.result);
  }

  /** @param {Result} result */
  #fail(result) {
    this.#failed += 1;
    part("failures").hidden = false;
    if (this.#failed > MOST_SHOWN) {
      part("more").hidden = false;
      part("more").textContent = `The list has the first ${MOST_SHOWN} of ${this.#failed} failures; save the results for all.`;
      return;
    }
    const rest = [
      result.message,
      result.expected && `Expected: ${result.expected}`,
      result.actual && `Actual: ${result.actual}`,
      result.clauses.at(-1) && `Specification: "${result.clauses.at(-1)}"`,
    ].filter(Boolean);
    const summary = element("summary", `${result.case}: ${result.verdict}`);
    part("list").append(element("li", "", element("details", "", summary, ...rest.map((text) => element("p", text)))));
  }

  /**
   * Show the counts; at most every 200 ms, because a table takes time.
   *
   * @param {boolean} [always]
   */
  draw(always = false) {
    if (!always && performance.now() - this.#drawn < REDRAW) return;
    this.#drawn = performance.now();
    part("counts").hidden = !this.#counts.size;
    const total = new Map();
    for (const row of this.#counts.values()) {
      for (const [verdict, number] of row) total.set(verdict, (total.get(verdict) ?? 0) + number);
    }
    const columns = COLUMNS.filter((name) => total.has(name));
    const cells = (/** @type {string} */ name, /** @type {Map<string, number>} */ row) =>
      [element("td", name), ...columns.map((column) => element("td", String(row.get(column) ?? 0)))];
    part("heads").replaceChildren(element("th", "operator"), ...columns.map((name) => element("th", name)));
    part("rows").replaceChildren(...[...this.#counts].map(([name, row]) => element("tr", "", ...cells(name, row))));
    part("totals").replaceChildren(...cells("all", total));
    part("not-judged").hidden = !Object.keys(this.notJudged).length;
    const reasons = Object.entries(this.notJudged).map(([reason, number]) => element("li", `${number} cases: ${reason}`));
    part("reasons").replaceChildren(...reasons);
  }
}

/**
 * @param {Pack} pack
 * @param {string} text - of the field
 * @returns {string[]} the operators that it names; empty: all
 * @throws {PackError} the pack has no operator of a name
 */
function named(pack, text) {
  return text.split(/[\s,]+/).filter(Boolean).map((word) => {
    const found = pack.operators.find(({ operator }) => operator === word || operator === `ai.onnx/${word}`);
    if (!found) throw new PackError(`the pack has no operator ${word}; write names such as Split or ai.onnx.ml/Scaler`);
    return found.operator;
  });
}

/** @type {{facts: RunFacts, results: Result[]} | null} */
let finished = null;
let stopped = false;

async function start() {
  const [file] = part("pack").files;
  if (!file) return show("Choose a pack first.", true);
  finished = null;
  stopped = false;
  part("save").disabled = true;
  show(`Reading ${file.name}.`);
  const pack = await openPack(file, file.name);
  const operators = named(pack, part("operators").value);
  const provider = part("provider").value || (await bestProvider());
  const runtime = new Runtime(provider, TIMEOUT);
  const view = new View();
  const started = new Date();
  try {
    show("Loading onnxruntime-web.");
    await runtime.start();
    const all = pack.operators.filter(({ operator }) => !operators.length || operators.includes(operator));
    const total = all.reduce((sum, { versions }) => sum + Object.values(versions).reduce((a, b) => a + b, 0), 0);
    part("progress").hidden = false;
    const where = `onnxruntime-web ${runtime.version}, ${provider}`;
    for await (const judged of run(pack, (item) => runtime.ask(item), operators)) {
      view.add(judged);
      view.draw();
      part("progress").value = view.done / total;
      show(`${view.done} of ${total} cases (${where}).`);
      if (stopped) break;
    }
    view.draw(true);
    show(`${stopped ? "Stopped after" : "Finished:"} ${view.done} of ${total} cases (${where}).`);
  } finally {
    runtime.close();
    part("progress").hidden = true;
  }
  const facts = {
    pack, backend: runtime.backend, operators, started, timeout: TIMEOUT, whole: !stopped, notJudged: view.notJudged,
    runtime: { runtime: "onnxruntime-web", version: runtime.version, provider },
    seconds: (Date.now() - started.getTime()) / 1000,
  };
  finished = { facts, results: view.results };
  part("save").disabled = false;
}

function save() {
  if (!finished) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([stream(finished.facts, finished.results)], { type: "application/x-ndjson" }));
  link.download = "results.ndjson";
  link.click();
  URL.revokeObjectURL(link.href);
}

part("options").addEventListener("submit", async (/** @type {Event} */ event) => {
  event.preventDefault();
  part("run").disabled = true;
  part("stop").disabled = false;
  try {
    await start();
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    const expected = error instanceof PackError || error instanceof NoRuntimeError;
    show(expected ? message : `This page has an error: ${message}`, true);
  } finally {
    part("run").disabled = false;
    part("stop").disabled = true;
    document.documentElement.dataset.state = "ready";
  }
});
part("stop").addEventListener("click", () => {
  stopped = true;
});
part("save").addEventListener("click", save);
