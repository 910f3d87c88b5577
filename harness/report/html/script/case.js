// The page of a case: sentence, model, inputs, what is expected and what each backend gave, and how to see it again.

let asked = 0;

async function caseShow() {
  const section = byId("v-case");
  const place = placeOf(state.id);
  const turn = ++asked;
  if (place < 0) {
    section.replaceChildren(trail(-1), element("p", { class: "empty" }, `No case is called ${state.id || "so"}.`));
    return;
  }
  await loadSaid();
  const [details, described] = await Promise.all([detailsOf(place), describedOf(place)]);
  if (turn !== asked) return; // Another case was asked for meanwhile.
  section.replaceChildren(trail(place), page(place, details, described));
  window.scrollTo(0, 0);
}

const messageOf = (place, column) => {
  const number = data.messages[column][place];
  return number < 0 ? "" : data.said[number];
};

function trail(place) {
  const found = filtered();
  const at = found.indexOf(place);
  const to = (number, label, key) =>
    at >= 0 && found[number] !== undefined
      ? link(written({ ...state, id: data.ids[found[number]] }), { id: key, rel: key }, label)
      : null;
  return element(
    "div",
    { class: "trail" },
    link(written({ ...state, view: "cases", id: "" }), { id: "back" }, "← list"),
    element("span", { class: "dim" }, at < 0 ? "" : `${count(at + 1)} of ${count(found.length)}`),
    to(at - 1, "previous", "prev"),
    to(at + 1, "next", "next"),
  );
}

function page(place, details, described) {
  const { by } = data;
  const operator = data.operators[by.operator[place]];
  const facts = [
    link(written({ view: "cases", op: operator }), {}, operator || "unknown operator"),
    data.types[by.type[place]] && `type ${data.types[by.type[place]]}`,
    `form ${data.forms[by.form[place]]}`,
    `expects ${data.outcomes[by.outcome[place]]}`,
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
    element("h2", {}, "Verdicts"),
    verdictTable(place, details),
    differences(place, details, described),
    scripts(place, details, described),
    described ? modelOf(described) : absent(),
  );
}

const absent = () =>
  element("p", { class: "note", id: "absent" }, "The model and the inputs of this case are not on this page; `onnx-conformance show` has them.");

function modelOf(described) {
  const named = (rows) => element("dl", { class: "named" }, rows.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
  const expected = described.decided
    ? element("p", {}, described.rejects ? `To be refused: ${described.decided}` : `Left open: ${described.decided}`)
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
  const rows = data.columns.map(({ label }, column) => {
    const it = details[column];
    const ended = [it.signal && !messageOf(place, column).includes(it.signal) && `signal ${it.signal}`, it.attempts && `attempts ${it.attempts}`].filter(Boolean).join(", ");
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, label),
      element("td", {}, badge(data.verdicts[column][place])),
      element("td", { class: "said" }, messageOf(place, column), ended ? element("div", { class: "dim" }, ended) : "", it.stderr ? element("details", {}, element("summary", {}, "the last it printed"), element("pre", {}, it.stderr)) : ""),
      element("td", { class: "time" }, it.time === undefined ? "" : `${it.time} ms`),
    );
  });
  const heads = ["Backend", "Verdict", "Said", "Time"];
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

/** Expected against given. Backends whose answers differ in the same tensor stand in one table. */
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
  return element("div", { id: "differences" }, element("h2", {}, "Expected against given"), parts);
}

/** [1, 2] of a place in row-major order. */
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

/** What differs beyond the elements that are shown, as far as it is known. */
function beyond(column, mismatch) {
  const start = mismatch.start ?? 0;
  const kept = mismatch.differs ?? [];
  const outside = kept.filter((flat) => flat < start || flat >= start + mismatch.wanted.length);
  const unknown = Math.max(0, (mismatch.differing ?? kept.length) - kept.length);
  const parts = [`${data.columns[column].label}: ${count(mismatch.differing ?? kept.length)} of ${count(mismatch.total ?? 0)} elements differ`];
  if (outside.length) parts.push(`beyond those shown: ${outside.map((flat) => indexOf(flat, mismatch.shape)).join(" ")}`);
  if (unknown) parts.push(`${count(unknown)} more whose places the run did not keep`);
  return element("p", { class: "note" }, parts.join("; "));
}

/** Answers that differ as a whole, or are shown without being scored. */
function wholes(columns, details, described) {
  const rows = columns.map((column) => {
    const { mismatch, expected, actual } = details[column];
    const wanted = expected ?? (described?.expected ?? []).map(([, text]) => text).join("; ");
    const differs = (text) => (mismatch && text ? [element("mark", {}, text), element("br")] : "");
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, data.columns[column].label),
      element("td", { class: "said" }, differs(mismatch?.expected), wanted || "–"),
      element("td", { class: "said" }, differs(mismatch?.actual), actual ?? "no answer"),
    );
  });
  const old = columns.some((column) => details[column].mismatch?.differing);
  const heads = ["Backend", "Expected", "Given"];
  return element(
    "div",
    { class: "scroll" },
    element(
      "table",
      { class: "verdicts wholes" },
      element("thead", {}, element("tr", {}, heads.map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, rows),
    ),
    old ? element("p", { class: "note" }, "Which elements differ beside the worst one, which is marked, this run did not keep.") : "",
  );
}

function scripts(place, details, described) {
  const columns = data.columns.map((_, column) => column).filter((column) => {
    const look = data.looks[data.verdicts[column][place]];
    return look && look.name !== "pass";
  });
  if (!columns.length) return "";
  return element("div", {}, element("h2", {}, "See it again"), columns.map((column) => again(place, column, details, described)));
}

function noScript(plain, described) {
  if (!plain) return "This run did not keep how this backend is called; the command makes the script.";
  return described ? "The script is a long one; the command makes it." : "Without the case at hand there is no script here; the command makes it.";
}

function again(place, column, details, described) {
  const { label, plain } = data.columns[column];
  const command = commandOf(place, column);
  const parts = [element("div", { class: "copy" }, element("code", {}, command), copier("Copy command", () => command))];
  if (described?.before && plain) {
    const error = details[column].error;
    const said = messageOf(place, column);
    const message = error && said.startsWith(error) ? said.slice(error.length + 2) : said;
    const text = scriptOf(place, column, described, details[column], message);
    parts.push(element("div", { class: "copy" }, copier("Copy script", () => text), element("span", { class: "dim" }, "one Python file that needs nothing of this project")));
    parts.push(element("pre", { class: "script", tabindex: "0" }, text));
  } else {
    parts.push(element("p", { class: "note" }, noScript(plain, described)));
  }
  return element("details", { class: "scripts" }, element("summary", {}, label, " ", badge(data.verdicts[column][place])), parts);
}
