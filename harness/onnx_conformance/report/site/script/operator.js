// SPDX-License-Identifier: Apache-2.0
// The page of an operator: its sentences, each with its cases and a letter for the verdict of every runtime.

const MOST_ROWS = 200;

async function operatorBegin() {
  const slug = byId("operator").dataset.operator;
  const [shared, own] = await Promise.all([jsonData("site"), jsonData(`operator/${slug}`)]);
  use(shared);
  const only = element("input", { type: "checkbox", id: "only" });
  const list = element("div", {});
  const show = () => list.replaceChildren(...sentencesOf(own, only.checked));
  only.addEventListener("change", show);
  show();
  const letters = data.styles.filter(({ letter }) => own.verdicts.some((row) => row.includes(letter)));
  byId("sentences").replaceChildren(
    element("p", {}, element("label", {}, only, "only cases that fail somewhere")),
    element("ul", { class: "scale", "aria-label": "Letters" }, letters.map((style) => element("li", {}, badge(verdictOf(style.letter), { full: false }), ` ${style.words}`))),
    list,
  );
}

const failsSomewhere = (letters) => [...letters].some((letter) => data.styles[verdictOf(letter)]?.failed);

function sentencesOf(own, failing) {
  const bySentence = own.clauses.map(() => []);
  const without = [];
  own.ids.forEach((_, place) => {
    if (failing && !failsSomewhere(own.verdicts[place])) return;
    const clauses = own.clauseSets[own.clause[place]];
    for (const clause of clauses) bySentence[clause].push(place);
    if (!clauses.length) without.push(place);
  });
  const parts = bySentence.map((places, clause) => (places.length ? sentence(own, quoted(own.clauses[clause]), places) : null));
  if (without.length) parts.push(sentence(own, "No sentence", without));
  const shown = parts.filter(Boolean);
  return shown.length ? shown : [element("p", { class: "dim" }, failing ? "No case fails." : "There are no cases.")];
}

function sentence(own, text, places) {
  const failing = data.columns
    .map(({ label }, column) => [label, places.filter((place) => data.styles[verdictOf(own.verdicts[place][column])]?.failed).length])
    .filter(([, number]) => number);
  const box = element(
    "details",
    { class: "sentence" },
    element("summary", {}, element("span", {}, text), " ", element("small", {}, cases(places.length), failing.length ? `; failed by ${failing.map(([label, number]) => `${label} (${number})`).join(", ")}` : "")),
  );
  box.addEventListener("toggle", () => box.open && box.children.length < 2 && box.append(caseTable(own, places)));
  return box;
}

function caseTable(own, places) {
  const body = element("tbody");
  const rows = (from, to) =>
    places.slice(from, to).map((place) => {
      const id = own.ids[place];
      const operator = own.operators[own.operator[place]].replace(/\/[^/]*$/, "");
      const short = id.startsWith(`${operator}/`) ? id.slice(operator.length + 1) : id;
      return element("tr", {}, element("th", { scope: "row", class: "id" }, caseLink(id, short)), [...own.verdicts[place]].map((letter) => element("td", {}, badge(verdictOf(letter), { full: false }))));
    });
  body.append(...rows(0, MOST_ROWS));
  const table = element("table", { class: "letters" }, element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Case"), data.columns.map(({ label }) => element("th", { scope: "col" }, element("span", {}, label))))), body);
  const parts = [element("div", { class: "frame plain" }, table)];
  if (places.length > MOST_ROWS) {
    const more = element("button", { type: "button" }, `Show ${count(places.length - MOST_ROWS)} more`);
    more.addEventListener("click", () => {
      body.append(...rows(MOST_ROWS));
      more.remove();
    });
    parts.push(more);
  }
  return element("div", {}, parts);
}
