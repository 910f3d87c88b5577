// SPDX-License-Identifier: Apache-2.0
// The list of cases. Only the visible rows are in the document, however many cases there are.

const NARROW = "(max-width: 700px)";
const list = { height: 28, places: new Int32Array(0), body: null, spacer: null, pool: [], active: 0, summary: null, note: null };

function casesBegin() {
  const many = data.columns.length > 4;
  list.many = many;
  const head = element(
    "div",
    { class: "row head", role: "row", "aria-rowindex": "1" },
    element("div", { role: "columnheader" }, "Case"),
    data.columns.map(({ label, runtime }) => element("div", { role: "columnheader", title: runtime }, label)),
  );
  list.spacer = element("div", { class: "spacer", role: "presentation" });
  list.body = element("div", { class: "body", role: "rowgroup" }, list.spacer);
  list.grid = element(
    "div",
    { class: many ? "grid many" : "grid", id: "list", role: "grid", tabindex: "0", "aria-label": "Cases; arrow keys move, Enter opens" },
    head,
    list.body,
  );
  list.summary = element("div", {});
  list.note = element("p", { class: "note" });
  byId("v-cases").replaceChildren(list.summary, list.grid, list.note);
  list.body.addEventListener("scroll", draw, { passive: true });
  list.grid.addEventListener("keydown", listKey);
  list.body.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (!row) return;
    list.active = Number(row.dataset.at);
    if (!event.target.closest("a")) open(list.active);
  });
}

function open(at) {
  if (at < 0 || at >= list.places.length) return;
  list.active = at;
  go({ ...state, view: "case", id: data.ids[list.places[at]] });
}

function casesShow() {
  const places = filtered();
  if (list.places !== places) {
    list.places = places;
    list.active = Math.min(list.active, Math.max(0, places.length - 1));
    if (list.key !== memory.key) {
      list.active = 0;
      list.body.scrollTop = 0;
      list.key = memory.key;
    }
    summarize(places);
  }
  list.grid.setAttribute("aria-rowcount", String(places.length + 1));
  measure();
  list.grid.hidden = !places.length;
  list.note.textContent = places.length ? "" : "No case matches the filter; clear one of its fields.";
  draw();
}

/** On a narrow screen, many backends do not fit next to an id, so a row has two lines; see style.css. */
function measure() {
  const height = list.many && window.matchMedia(NARROW).matches ? 50 : 28;
  if (height !== list.height) {
    list.height = height;
    for (const it of list.pool) it.at = -1;
  }
  list.spacer.style.height = `${list.places.length * list.height}px`;
}

/** Keep as many rows as fit the screen, each showing one case. */
function draw() {
  const height = list.body.clientHeight;
  const first = Math.max(0, Math.floor(list.body.scrollTop / list.height) - 3);
  const last = Math.min(list.places.length, Math.ceil((list.body.scrollTop + height) / list.height) + 3);
  while (list.pool.length < last - first) {
    const row = element("div", { class: "row", role: "row" }, element("div", { class: "id", role: "gridcell" }, element("a", { tabindex: "-1" })));
    for (let n = 0; n < data.columns.length; n += 1) {
      row.append(element("div", { role: "gridcell" }, element("span")));
    }
    list.pool.push({ row, at: -1, place: -1 });
    list.body.append(row);
  }
  list.pool.forEach((it, number) => {
    const at = first + ((number - (first % list.pool.length) + list.pool.length) % list.pool.length);
    const shown = at < last;
    if (it.row.hidden === shown) it.row.hidden = !shown;
    if (shown) drawRow(it, at);
  });
  const active = list.pool.find(({ at, row }) => at === list.active && !row.hidden);
  if (active) list.grid.setAttribute("aria-activedescendant", active.row.id);
  else list.grid.removeAttribute("aria-activedescendant");
}

function drawRow(it, at) {
  const place = list.places[at];
  it.row.classList.toggle("active", at === list.active);
  if (it.at !== at) {
    it.at = at;
    it.row.id = `case-${at}`;
    it.row.dataset.at = String(at);
    it.row.setAttribute("aria-rowindex", String(at + 2));
    it.row.style.top = `${at * list.height}px`;
  }
  const anchor = it.row.firstElementChild.firstElementChild; // For a click that opens a new tab.
  anchor.setAttribute("href", addressOf({ ...state, view: "case", id: data.ids[place] }));
  if (it.place === place) return;
  it.place = place;
  anchor.textContent = data.ids[place];
  anchor.title = data.ids[place];
  data.verdicts.forEach((numbers, column) => {
    const style = data.styles[numbers[place]];
    const mark = it.row.children[column + 1].firstElementChild;
    mark.className = style ? `badge b-${style.family}` : "badge b-none";
    mark.title = style ? style.words : "no data";
    if (list.many) {
      mark.textContent = style ? style.letter : "·";
    } else {
      mark.replaceChildren(style ? style.letter : "·", element("span", { class: "rest" }, ` ${style ? style.words : "no data"}`));
    }
    mark.setAttribute("aria-label", style ? style.words : "no data");
  });
}

function listKey(event) {
  const page = Math.max(1, Math.floor(list.body.clientHeight / list.height) - 1);
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9 }[event.key];
  if (event.key === "Enter") open(list.active);
  if (step === undefined) return;
  event.preventDefault();
  list.active = Math.max(0, Math.min(list.places.length - 1, list.active + step));
  const top = list.active * list.height;
  if (top < list.body.scrollTop) list.body.scrollTop = top;
  if (top + list.height > list.body.scrollTop + list.body.clientHeight) {
    list.body.scrollTop = top + list.height - list.body.clientHeight;
  }
  draw();
}

/** The verdicts of the filtered cases, by backend; for one operator version also its sentences. */
function summarize(places) {
  const counts = data.columns.map((_, column) => {
    const sum = new Array(data.styles.length).fill(0);
    const numbers = data.verdicts[column];
    for (const place of places) if (numbers[place] !== data.absent) sum[numbers[place]] += 1;
    return sum;
  });
  const kinds = data.styles.map((_, number) => number).filter((number) => counts.some((sum) => sum[number]));
  const partial = ["verdict", "q", "change", "group"].some((name) => state[name]);  // Then a rate is meaningless.
  const rows = counts.map((sum, column) => {
    const { passed, specified, attempted } = rates(sum);
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, data.columns[column].label),
      kinds.map((number) => element("td", {}, sum[number] ? count(sum[number]) : "")),
      partial ? "" : element("td", {}, countedRate(passed, specified)),
      partial ? "" : element("td", {}, countedRate(passed, attempted)),
    );
  });
  const heads = ["Backend", ...kinds.map((number) => data.styles[number].words), ...(partial ? [] : ["passed of specified", "passed of attempted"])];
  const table = element(
    "table",
    { class: "counts", "aria-label": "Verdicts by backend" },
    element("thead", {}, element("tr", {}, heads.map((text) => element("th", { scope: "col" }, text)))),
    element("tbody", {}, rows),
  );
  const parts = [];
  if (state.group && data.groups[state.group]) parts.push(groupLine(data.groups[state.group]));
  if (state.op) parts.push(...sentencesOf(places));
  const scroll = element("div", { class: "scroll" }, places.length ? table : "");
  const closed = list.many && places.length;  // Many rows would push the list out of sight.
  list.open ??= false;
  const shown = closed ? element("details", { open: list.open }, element("summary", {}, "Verdicts by backend"), scroll) : scroll;
  if (closed) shown.addEventListener("toggle", () => { list.open = shown.open; });
  list.summary.replaceChildren(shown, ...parts);
}

const SENTENCES = 40;

function sentencesOf(places) {
  if (!places.length || !places.every((place) => data.by.operator[place] === data.by.operator[places[0]])) return [];
  const numbers = new Map();
  for (const place of places) {
    for (const clause of data.clauseSets[data.by.clauses[place]]) numbers.set(clause, (numbers.get(clause) ?? 0) + 1);
  }
  const shown = [...numbers].sort((a, b) => b[1] - a[1]).slice(0, SENTENCES);
  const items = shown.map(([clause, number]) =>
    element(
      "li",
      {},
      link(addressOf({ ...state, clause: data.clauses[clause] }), {}, quoted(data.clauses[clause])),
      element("small", {}, ` ${cases(number)}`),
    ),
  );
  const label = `${numbers.size} ${numbers.size === 1 ? "sentence" : "sentences"} of ${data.operators[data.by.operator[places[0]]]}`;
  return [element("details", {}, element("summary", {}, label), element("ul", { class: "sentences" }, items))];
}
