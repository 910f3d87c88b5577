// SPDX-License-Identifier: Apache-2.0
// The page of a case: sentence, model, inputs, expected outcome, each backend's outputs, and how to reproduce it.

function page(place, details, described) {
  const { by } = data;
  const operator = data.operators[by.operator[place]];
  const facts = [
    operatorLink(operator),
    data.types[by.type[place]] && `type ${data.types[by.type[place]]}`,
    `form ${data.forms[by.form[place]]}`,
    `expected outcome ${data.outcomes[by.outcome[place]]}`,
    data.tagSets[by.tags[place]].length && `tags ${data.tagSets[by.tags[place]].map((n) => data.tags[n]).join(", ")}`,
  ].filter(Boolean);
  const clauses = data.clauseSets[by.clauses[place]].map((number) => data.clauses[number]);
  return element(
    "article",
    { class: "case" },
    element("h2", { class: "id", id: "case-title", tabindex: "-1" }, data.ids[place]),
    element("p", { class: "facts" }, facts.flatMap((fact, n) => (n ? [" · ", fact] : [fact]))),
    clauses.map((clause) => element("blockquote", {}, quoted(clause))),
    (described?.notes ?? []).map((note) => element("p", { class: "note" }, `Note: ${note}`)),
    (described?.readings ?? []).map((text) => element("p", { class: "note" }, `Reading ${text}`)),
    element("h2", {}, "Verdicts"),
    verdictTable(place, details),
    differences(place, details, described),
    scripts(place, details, described),
    described ? modelOf(described) : absent(),
  );
}

const absent = () =>
  element("p", { class: "note", id: "absent" }, "The model and the inputs of this case are not on this page; `onnx-conformance show` prints them.");

function modelOf(described) {
  const named = (rows) => element("dl", { class: "named" }, rows.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
  const expected = described.decided
    ? element("p", {}, described.rejects ? `Must be rejected: ${described.decided}` : `Unspecified: ${described.decided}`)
    : named(described.expected ?? []);
  return element(
    "div",
    { class: "pairs" },
    element("div", {}, element("h2", {}, "Model"), element("pre", { id: "model", tabindex: "0" }, described.model)),
    element(
      "div",
      {},
      element("h2", {}, "Inputs"),
      described.inputs ? named(described.inputs) : element("p", { class: "dim" }, "none"),
      element("h2", {}, "Expected"),
      expected,
      described.decided ? "" : element("p", { class: "dim" }, `Tolerance: ${described.allowance}`),
    ),
  );
}

function verdictTable(place, details) {
  const timed = details.some(({ time }) => time !== undefined);
  const rows = data.columns.map(({ label }, column) => {
    const it = details[column];
    const ended = [it.signal && !messageOf(place, column).includes(it.signal) && `signal ${it.signal}`, it.attempts && `attempts ${it.attempts}`].filter(Boolean).join(", ");
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, label),
      element("td", {}, badge(data.verdicts[column][place])),
      element("td", { class: "message" }, messageOf(place, column), ended ? element("div", { class: "dim" }, ended) : "", it.erratum ? element("div", { class: "dim" }, `Erratum: the sentence ${it.erratum}`) : "", it.stderr ? element("details", {}, element("summary", {}, "end of its output"), element("pre", {}, it.stderr)) : ""),
      timed ? element("td", { class: "time" }, it.time === undefined ? "" : `${it.time} ms`) : "",
    );
  });
  const heads = ["Backend", "Verdict", "Message", ...(timed ? ["Time"] : [])];
  return element(
    "div",
    { class: "scroll" },
    element(
      "table",
      { class: "verdicts" },
      element("thead", {}, element("tr", {}, heads.map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, rows),
    ),
  );
}

/** Expected and actual values. Backends whose outputs differ in the same tensor share a table. */
function differences(place, details, described) {
  const groups = new Map();
  const others = [];
  details.forEach((it, column) => {
    const mismatch = it.mismatch;
    if (mismatch?.wanted) {
      const key = JSON.stringify([mismatch.where, mismatch.start ?? 0, mismatch.wanted]);
      groups.set(key, [...(groups.get(key) ?? []), column]);
    } else if (mismatch || it.actual || (it.expected && it.expected !== "refused")) {
      others.push(column);
    }
  });
  if (!groups.size && !others.length) return "";
  const parts = [...groups.values()].map((columns) => elements(columns, details));
  if (others.length) parts.push(wholes(others, details, described));
  return element("div", { id: "differences" }, element("h2", {}, "Expected and actual"), parts);
}

/** The index of an element, such as [1,2], from its place in row-major order. */
function indexOf(flat, shape) {
  const index = [];
  let rest = flat;
  for (const size of [...(shape ?? [])].reverse()) {
    index.unshift(size ? rest % size : 0);
    rest = size ? Math.floor(rest / size) : 0;
  }
  return shape?.length ? `[${index.join(",")}]` : "";
}

function elements(columns, details) {
  const first = details[columns[0]].mismatch;
  const start = first.start ?? 0;
  const total = first.total ?? first.wanted.length;
  const differing = columns.map((column) => new Set(details[column].mismatch.differs ?? []));
  const before = start ? [element("td", { class: "dim" }, "…")] : [];
  const after = start + first.wanted.length < total ? [element("td", { class: "dim" }, `… ${count(total - start - first.wanted.length)} more`)] : [];
  const edge = (cells) => cells.map((cell) => cell.cloneNode(true));
  const cell = (text, marked) => element("td", {}, marked ? element("mark", {}, text) : text);
  const anywhere = (n) => differing.some((set) => set.has(start + n));
  const table = element(
    "table",
    { class: "elements" },
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, first.where ?? "element"), before.length ? element("td") : "", first.wanted.map((_, n) => element("th", { scope: "col" }, indexOf(start + n, first.shape) || "–")))),
    element(
      "tbody",
      {},
      element("tr", { class: "wanted" }, element("th", { scope: "row" }, "expected"), edge(before), first.wanted.map((text, n) => cell(text, anywhere(n))), edge(after)),
      columns.map((column, row) =>
        element("tr", { class: "given" }, element("th", { scope: "row" }, data.columns[column].label), edge(before), details[column].mismatch.given.map((text, n) => cell(text, differing[row].has(start + n))), edge(after)),
      ),
    ),
  );
  return element("div", {}, element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Elements" }, table), columns.map((column) => beyond(column, details[column].mismatch)));
}

/** The differing elements beyond those shown, if the run stored them. */
function beyond(column, mismatch) {
  const start = mismatch.start ?? 0;
  const known = mismatch.differs ?? [];
  const outside = known.filter((flat) => flat < start || flat >= start + mismatch.wanted.length);
  const unknown = Math.max(0, (mismatch.differing ?? known.length) - known.length);
  const parts = [`${data.columns[column].label}: ${count(mismatch.differing ?? known.length)} of ${count(mismatch.total ?? 0)} elements differ`];
  if (outside.length) parts.push(`beyond those shown: ${outside.map((flat) => indexOf(flat, mismatch.shape)).join(" ")}`);
  if (unknown) parts.push(`${count(unknown)} more at positions that the run did not store`);
  return element("p", { class: "note" }, parts.join("; "));
}

/** Outputs that differ in shape, type or number, or are not scored. */
function wholes(columns, details, described) {
  const rows = columns.map((column) => {
    const { mismatch, expected, actual } = details[column];
    const text = expected ?? (described?.expected ?? []).map(([, text]) => text).join("; ");
    const differs = (text) => (mismatch && text ? [element("mark", {}, text), element("br")] : "");
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, data.columns[column].label),
      element("td", { class: "message" }, differs(mismatch?.expected), text || "–"),
      element("td", { class: "message" }, differs(mismatch?.actual), actual ?? "no answer"),
    );
  });
  const old = columns.some((column) => details[column].mismatch?.differing);
  const heads = ["Backend", "Expected", "Actual"];
  return element(
    "div",
    { class: "scroll" },
    element(
      "table",
      { class: "verdicts wholes" },
      element("thead", {}, element("tr", {}, heads.map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, rows),
    ),
    old ? element("p", { class: "note" }, "The worst element is marked; this run did not store which others differ.") : "",
  );
}

function scripts(place, details, described) {
  const columns = data.columns.map((_, column) => column).filter((column) => {
    const style = data.styles[data.verdicts[column][place]];
    return style && style.name !== "pass";
  });
  if (!columns.length) return "";
  return element("div", {}, element("h2", {}, "Reproduce"), columns.map((column) => reproduction(place, column, details, described)));
}

function noScript(plain, described) {
  if (!plain) return "This run did not store the code that calls this backend; the command above writes the script.";
  return described ? "The script is too long for this page; the command above writes it." : "This page does not contain the case; the command above writes the script.";
}

const FOREIGN =
  "The lines that call the runtime are from the results file, not from this project. Read them before you run the script.";

function reproduction(place, column, details, described) {
  const { label, calls, foreign } = data.columns[column];
  const way = described?.way ?? "plain";
  const code = calls[way];
  const command = commandOf(place, column);
  const parts = [element("div", { class: "copy" }, element("code", {}, command), copier("Copy command", () => command))];
  if (described?.before && code) {
    const error = details[column].error;
    const whole = messageOf(place, column);
    const message = error && whole.startsWith(error) ? whole.slice(error.length + 2) : whole;
    const text = scriptOf(place, column, described, details[column], message);
    if (foreign.includes(way)) parts.push(element("p", { class: "note foreign" }, FOREIGN));
    parts.push(element("div", { class: "copy" }, copier("Copy script", () => text), element("span", { class: "dim" }, "one Python file that does not need this project")));
    parts.push(element("pre", { class: "script", tabindex: "0" }, text));
  } else {
    parts.push(element("p", { class: "note" }, noScript(code, described)));
  }
  return element("details", { class: "scripts" }, element("summary", {}, label, " ", badge(data.verdicts[column][place])), parts);
}
