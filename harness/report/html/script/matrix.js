// The matrix: drawn by the server side once, filled anew by a filter, walked with arrow keys.

const SVG = "http://www.w3.org/2000/svg";
const matrix = { rows: [], shown: [], cells: null, counts: null, key: "", job: 0 };

/** What stands below a bar; html/matrix.py has the same. */
function shortOf(counts) {
  const { total, passed, specified, attempted } = rates(counts);
  if (attempted) return `${passed}/${attempted}`;
  if (!total) return "no data";
  return specified ? "unsupported" : "unspecified";
}

function toldOf(counts) {
  const { total, passed, specified, attempted } = rates(counts);
  if (!total) return "no data";
  const others = data.looks
    .map((look, number) => (look.name !== "pass" && counts[number] ? `${counts[number]} ${look.words}` : ""))
    .filter(Boolean);
  return [
    `${passed} passed of ${specified} specified (${rate(passed, specified)}), ` +
      `of ${attempted} attempted (${rate(passed, attempted)})`,
    ...others,
  ].join("; ");
}

/** Family, first and width, in tenths of a percent; narrow parts are widened so that they can be seen. */
function sharesOf(counts) {
  const total = counts.reduce((sum, number) => sum + number, 0);
  const wide = [];
  counts.forEach((number, verdict) => {
    if (number) wide.push([verdict, Math.max(data.least, Math.floor((number * 1000) / total))]);
  });
  const whole = wide.reduce((sum, [, width]) => sum + width, 0);
  let first = 0;
  return wide.map(([verdict, width]) => {
    const share = Math.floor((width * 1000) / whole);
    first += share;
    return [data.looks[verdict].family, first - share, share];
  });
}

function fill(anchor, counts, href) {
  const bar = anchor.firstElementChild;
  const parts = sharesOf(counts);
  while (bar.childElementCount > parts.length) bar.lastElementChild.remove();
  while (bar.childElementCount < parts.length) bar.append(document.createElementNS(SVG, "rect"));
  parts.forEach(([family, first, width], number) => {
    const part = bar.children[number];
    part.setAttribute("class", `f-${family}`);
    part.setAttribute("x", `${first / 10}%`);
    part.setAttribute("width", `${width / 10}%`);
    part.setAttribute("height", "100%");
  });
  anchor.lastElementChild.textContent = shortOf(counts);
  anchor.setAttribute("aria-label", toldOf(counts));
  anchor.setAttribute("href", href);
}

function matrixBegin() {
  const table = byId("matrix");
  if (!table) return;
  for (const row of table.tBodies[0].rows) {
    matrix.rows.push({ row, operator: row.dataset.op === undefined ? -1 : Number(row.dataset.op), key: "" });
  }
  matrix.shown = matrix.rows;
  matrix.cells = table;
  table.addEventListener("keydown", matrixKey);
  table.addEventListener("focusin", (event) => {
    rove(event.target.closest("a"));
    tip(event.target.closest("td a"));
  });
  table.addEventListener("focusout", () => tip(null));
  table.addEventListener("pointerover", (event) => tip(event.target.closest("td a")));
  table.addEventListener("pointerleave", () => tip(null));
}

function rowCounts(operator, column) {
  const columns = data.columns.length;
  const kinds = data.looks.length;
  if (operator >= 0) {
    const first = (operator * columns + column) * kinds;
    return Array.from(matrix.counts.subarray(first, first + kinds));
  }
  const sum = new Array(kinds).fill(0);
  for (let n = 0; n < data.operators.length; n += 1) {
    const first = (n * columns + column) * kinds;
    for (let kind = 0; kind < kinds; kind += 1) sum[kind] += matrix.counts[first + kind];
  }
  return sum;
}

function fillRow(it) {
  if (it.key === matrix.key) return;
  it.key = matrix.key;
  const rest = { ...state, view: "cases", id: "" };
  const row = it.operator < 0 ? rest : { ...rest, op: data.operators[it.operator], version: "" };
  it.row.cells[0].firstElementChild.setAttribute("href", written(row));
  data.columns.forEach(({ label }, column) => {
    const anchor = it.row.cells[column + 1].firstElementChild;
    fill(anchor, rowCounts(it.operator, column), written({ ...row, on: state.on || label }));
  });
}

/** Show what a filter leaves: the rows in sight now, the others when there is time. */
function matrixShow() {
  if (!matrix.cells) return;
  const found = filtered();
  const key = memory.key;
  byId("matrix").hidden = false;
  if (matrix.key === key) return;
  if (!matrix.key && found.length === data.count) {
    matrix.key = key; // As the server side drew it.
    matrix.counts = countsOf(found);
    for (const it of matrix.rows) it.key = key;
    return;
  }
  matrix.key = key;
  matrix.counts = countsOf(found);
  const there = new Uint8Array(data.operators.length);
  for (const place of found) there[data.by.operator[place]] = 1;
  matrix.shown = [];
  for (const it of matrix.rows) {
    const hidden = it.operator >= 0 && !there[it.operator];
    if (it.row.hidden !== hidden) it.row.hidden = hidden;
    if (!hidden) matrix.shown.push(it);
  }
  const first = Math.max(0, Math.floor((window.scrollY - 200) / 34));
  const last = first + Math.ceil(window.innerHeight / 34) + 2;
  fillRow(matrix.rows[0]);
  matrix.shown.slice(first, last).forEach(fillRow);
  const focus = matrix.cells.querySelector('[tabindex="0"]');
  if (!focus || focus.closest("tr").hidden) rove(matrix.rows[0].row.cells[0].firstElementChild);
  fillRest(++matrix.job, 0);
}

function fillRest(job, from) {
  requestIdleCallback((idle) => {
    let next = from;
    while (job === matrix.job && next < matrix.shown.length && (idle.timeRemaining() > 2 || next < from + 4)) {
      fillRow(matrix.shown[next]);
      next += 1;
    }
    if (job === matrix.job && next < matrix.shown.length) fillRest(job, next);
  }, { timeout: 200 });
}

/** One cell of the matrix can be reached with Tab, the others from there with arrow keys. */
function rove(anchor) {
  if (!anchor) return;
  for (const other of matrix.cells.querySelectorAll('[tabindex="0"]')) other.setAttribute("tabindex", "-1");
  anchor.setAttribute("tabindex", "0");
}

const STEPS = {
  ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0],
  Home: [0, -1e9], End: [0, 1e9], PageDown: [15, 0], PageUp: [-15, 0],
};

function matrixKey(event) {
  const step = STEPS[event.key];
  const cell = event.target.closest("th, td");
  if (!step || !cell || event.altKey || event.metaKey) return;
  event.preventDefault();
  const limit = (number, most) => Math.max(0, Math.min(most, number));
  const at = matrix.shown.findIndex(({ row }) => row === cell.parentElement);
  const far = event.ctrlKey && step[1] ? [step[1] < 0 ? -1e9 : 1e9, step[1]] : step;
  const row = matrix.shown[limit(at + far[0], matrix.shown.length - 1)].row;
  const next = row.cells[limit(cell.cellIndex + step[1], row.cells.length - 1)].firstElementChild;
  rove(next);
  next.focus();
}

/** What a cell says, in full, beside it. */
function tip(anchor) {
  const box = byId("tip");
  box.hidden = !anchor;
  if (!anchor) return;
  const [first, ...others] = anchor.getAttribute("aria-label").split("; ");
  const row = anchor.closest("tr").cells[0].textContent.trim();
  const column = byId("matrix").tHead.rows[0].cells[anchor.parentElement.cellIndex].textContent;
  box.replaceChildren(
    element("p", {}, element("b", {}, `${row} · ${column}`)),
    ...first.split("), ").map((part, n, all) => element("p", {}, n < all.length - 1 ? `${part})` : part)),
    ...others.map((part) => element("p", { class: "dim" }, part)),
  );
  const at = anchor.getBoundingClientRect();
  const size = box.getBoundingClientRect();
  box.style.left = `${Math.max(8, Math.min(at.left, window.innerWidth - size.width - 8))}px`;
  box.style.top = `${at.bottom + size.height + 12 < window.innerHeight ? at.bottom + 6 : at.top - size.height - 6}px`;
}
