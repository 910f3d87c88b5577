// SPDX-License-Identifier: Apache-2.0
// The failure patterns, and the changes between two runs. Both link to the list of cases.

function groupLine(group) {
  const number = data.groups.indexOf(group);
  const example = group.cases[0];
  const says =
    group.kind === "statement"
      ? [element("b", {}, group.operator), " ", group.says]
      : [element("b", {}, group.operator), " ", shared(group, example)];
  return element(
    "div",
    { class: "group" },
    element("span", {}, badge(group.verdict)),
    element("p", {}, says),
    element("span", { class: "number" }, link(addressOf({ view: "cases", group: String(number) }), {}, cases(group.cases.length))),
  );
}

/** The common part of a group without a statement: the message of the first failure, or its sentences. */
function shared(group, example) {
  const number = data.messages[group.column][example];
  const clauses = data.clauseSets[data.by.clauses[example]].map((number) => quoted(data.clauses[number]));
  const message = number >= 0 ? data.messageTexts[number] : "";
  const short = message.length > 240 ? `${message.slice(0, 240)}…` : message;
  const line = short ? element("div", { class: "message dim" }, short) : "";
  return group.sentences ? [clauses.join(" "), line] : line; // Failures with one message cite many sentences.
}

async function groupsShow() {
  await loadMessages();
  const left = new Uint8Array(data.count);
  for (const place of filtered({ ...state, group: "" })) left[place] = 1;
  const parts = [];
  let hidden = 0;
  for (const [kind, title, note] of [
    ["statement", "Conditions of failures", "Found by comparing failing with passing cases. “Exactly”: the condition holds for all failures with this verdict and for no pass."],
    ["shared", "Failures by sentence or message", "Failures of one operator with the same verdict and the same sentences or message."],
  ]) {
    data.columns.forEach(({ label }, column) => {
      if (state.on && state.on !== label) return;
      const groups = data.groups.filter(
        (group) => group.kind === kind && group.column === column && wantedGroup(group) && group.cases.some((place) => left[place]),
      );
      if (!groups.length) return;
      const shown = groups.slice(0, 300);
      hidden += groups.length - shown.length;
      parts.push(element("h2", {}, `${label}: ${title.toLowerCase()}`), element("p", { class: "note" }, note), shown.map(groupLine));
    });
  }
  if (hidden) parts.push(element("p", { class: "note" }, `${count(hidden)} more groups; use the filter to see them.`));
  if (!parts.length) parts.push(element("p", { class: "empty" }, "No failures match the filter."));
  byId("v-groups").replaceChildren(...parts.flat());
}

function wantedGroup({ verdict }) {
  const style = data.styles[verdict];
  return !state.verdict || state.verdict === "differ" || style.name === state.verdict || (state.verdict === "failed" && style.failed);
}

const MEANINGS = {
  broke: "passed before, does not pass now",
  fixed: "passes now, did not pass before",
  changed: "another verdict, neither of them a pass",
  came: "only in the second run",
  went: "only in the first run",
  same: "the same verdict in both",
};

function changesShow() {
  const places = filtered({ ...state, change: "" });
  const parts = data.pairs.map(([before, after]) => {
    const counts = Object.fromEntries(Object.keys(MEANINGS).map((kind) => [kind, 0]));
    for (const place of places) {
      const kind = changeOf(data.verdicts[before][place], data.verdicts[after][place]);
      if (kind) counts[kind] += 1;
    }
    const rows = Object.entries(MEANINGS).map(([kind, meaning]) =>
      element(
        "tr",
        { "data-kind": kind },
        element("th", { scope: "row" }, link(addressOf({ ...state, view: "cases", change: kind }), {}, kind)),
        element("td", {}, count(counts[kind])),
        element("td", { class: "dim" }, meaning),
      ),
    );
    const heads = ["", "Cases", "Meaning"];
    return [
      element("h2", {}, `${data.columns[before].label} → ${data.columns[after].label}`),
      element("table", { class: "changes" }, element("thead", {}, element("tr", {}, heads.map((text) => element("th", { scope: "col" }, text)))), element("tbody", {}, rows)),
      changesByOperator(places, before, after),
    ];
  });
  byId("v-changes").replaceChildren(...(parts.length ? parts.flat() : [element("p", { class: "empty" }, "Changes are shown for exactly two runs of one backend.")]));
}

/** The operator versions with the most cases that broke or were fixed. */
function changesByOperator(places, before, after) {
  const rows = new Map();
  for (const place of places) {
    const kind = changeOf(data.verdicts[before][place], data.verdicts[after][place]);
    if (!kind || kind === "same") continue;
    const operator = data.by.operator[place];
    if (!rows.has(operator)) rows.set(operator, Object.fromEntries(CHANGES.map((name) => [name, 0])));
    rows.get(operator)[kind] += 1;
  }
  if (!rows.size) return element("p", { class: "note" }, "Nothing changed.");
  const order = [...rows].sort(([, a], [, b]) => b.broke - a.broke || b.fixed + b.changed - (a.fixed + a.changed));
  return element(
    "table",
    { class: "changes" },
    element("thead", {}, element("tr", {}, ["Operator version", ...CHANGES].map((text) => element("th", { scope: "col" }, text)))),
    element(
      "tbody",
      {},
      order.slice(0, 200).map(([operator, counts]) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, link(addressOf({ ...state, view: "cases", op: data.operators[operator], change: "any" }), {}, data.operators[operator])),
          CHANGES.map((kind) => element("td", {}, counts[kind] ? count(counts[kind]) : "")),
        ),
      ),
    ),
  );
}
