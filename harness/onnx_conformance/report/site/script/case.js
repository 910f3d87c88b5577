// SPDX-License-Identifier: Apache-2.0
// The page of the case in the address.

let details = [];
let caseTurn = 0;

const messageOf = (place, column) => details[column]?.message ?? "";

/** A link to the page of an operator version's operator. */
function operatorLink(operator) {
  const name = operator.replace(/\/[^/]*$/, "");
  return operatorPage(name, operator || "unknown operator");
}

/** The operator whose data contains a case; the ids of other suites do not contain the operator. */
async function ownerOf(id) {
  const operator = operatorOf(id);
  if (operator) return operator;
  const { operators } = await jsonData("search");
  return operators.find(([, , ids]) => ids.includes(id))?.[0] ?? "";
}

/** Load the data of an operator for the page of one of its cases. */
function useOperator(own) {
  const tags = [...new Set(own.tags.flat())];
  Object.assign(data, {
    ids: own.ids,
    types: own.types,
    forms: own.forms,
    outcomes: own.outcomes,
    tags,
    tagSets: own.tags.map((set) => set.map((tag) => tags.indexOf(tag))),
    clauses: own.clauses,
    clauseSets: own.clauseSets,
    verdicts: data.columns.map((_, column) => own.verdicts.map((letters) => verdictOf(letters[column]))),
    by: { operator: own.operator, type: own.type, form: own.form, outcome: own.outcome, tags: own.tag, clauses: own.clause },
  });
}

async function caseShow() {
  const id = named();
  const turn = ++caseTurn;
  const section = byId("shown");
  const shared = await jsonData("site");
  use(shared);
  const operator = await ownerOf(id);
  if (turn !== caseTurn) return;
  const own = operator ? await jsonData(`operator/${shared.operators[operator]}`) : null;
  const place = own ? own.ids.indexOf(id) : -1;
  if (place < 0) {
    document.title = "Case: ONNX conformance";
    section.replaceChildren(element("p", { class: "empty" }, `There is no case ${id || "without an id"} on this site.`));
    return;
  }
  const block = await jsonData(`case/${shared.operators[operator]}-${Math.floor(place / data.size)}`);
  if (turn !== caseTurn) return;
  const row = block.rows[place % data.size];
  const textOf = (value) => (typeof value === "number" ? block.texts[value] : value);
  details = data.columns.map((_, column) => Object.fromEntries(Object.entries(row[column] ?? {}).map(([key, value]) => [key, textOf(value)])));
  const described = block.described[place % data.size];
  useOperator(own);
  data.operators = own.operators; // The names of operator versions, for the page of a case.
  const article = page(place, details, described);
  data.operators = shared.operators;
  const to = (number, label, rel) => (own.ids[number] === undefined ? "" : anchor(`case.html#${encode(own.ids[number])}`, { rel, id: rel }, label));
  section.replaceChildren(
    element("div", { class: "trail" }, operatorPage(operator, `← ${shortName(operator)}`), element("span", { class: "dim" }, `${count(place + 1)} of ${count(own.ids.length)}`), to(place - 1, "previous", "prev"), to(place + 1, "next", "next")),
    article,
    described || !section.dataset.missing ? "" : element("p", { class: "note" }, section.dataset.missing),
  );
  document.title = `${id}: ONNX conformance`;
  window.scrollTo(0, 0);
}

function caseBegin() {
  window.addEventListener("hashchange", () => caseShow().catch(fail));
  document.addEventListener("keydown", (event) => {
    if (event.target.closest?.("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "n" || event.key === "p") byId(event.key === "n" ? "next" : "prev")?.click();
  });
  return caseShow();
}
