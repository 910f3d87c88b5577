// SPDX-License-Identifier: Apache-2.0
// The matrices: part of the HTML, updated by the filter, navigated with arrow keys; one for each kind of backend, one for each tool with options.

const ROW = 35;
const SPARE = 32;
const matrices = [];
const tally = { counts: null, key: "" };

/** The text below a bar; html/matrix.py has the same. */
function shortOf(counts) {
  const { total, passed, specified, attempted } = rates(counts);
  if (attempted) return `${passed}/${attempted}`;
  if (!total) return "no data";
  if (specified) return "unsupported";
  if (counts[data.number.lenient]) return "lenient";
  return counts[data.number.knows_less] ? "knows less" : "unspecified";
}

/** The text below a bar of an option: passed of specified, then other verdicts; options_table.py has the same. */
function optionShortOf(counts) {
  const { total, passed, specified } = rates(counts);
  if (!total) return "";
  const marks = data.styles.flatMap(({ marked, letter }, number) => (marked && counts[number] ? [`${letter}${counts[number]}`] : []));
  return [specified ? `${passed}/${specified}` : "-", ...marks].join(" ");
}

const filled = new WeakMap();

function fill(anchor, counts, href, textOf) {
  anchor.setAttribute("href", href);
  const key = counts.join();
  if (filled.get(anchor) === key) return;
  filled.set(anchor, key);
  const bar = anchor.firstElementChild;
  anchor.lastElementChild.textContent = textOf(counts);
  anchor.setAttribute("aria-label", sentenceOf(counts));
  bar.style.background = layersOf(sharesOf(counts));
}

/** A bar as one background with a picture for each family, as wide as its share; faster than thousands of elements. */
function layersOf(shares) {
  return shares
    .map(([family, first, width]) => {
      const left = width >= 1000 ? 0 : first / (1000 - width); // Background positions are relative to the remaining width.
      return `var(--i-${family}) ${(left * 100).toFixed(2)}% 0 / ${width / 10}% 100% no-repeat`;
    })
    .join();
}

function matrixBegin() {
  for (const table of document.querySelectorAll("table.matrix")) matrices.push(matrixOf(table));
  window.addEventListener("resize", () => matrices.forEach(place));
  window.addEventListener("beforeprint", () => matrices.forEach((matrix) => matrixDraw(matrix, 0, matrix.shown.length)));
}

function matrixOf(table) {
  const columns = table.dataset.columns.split(",").filter(Boolean).map(Number);
  const textOf = table.dataset.options === undefined ? shortOf : optionShortOf;
  const matrix = { table, columns, textOf, body: table.tBodies[0], frame: table.closest(".frame") };
  const rows = [...matrix.body.rows];
  matrix.order = rows.map((row) => (row.dataset.op === undefined ? -1 : Number(row.dataset.op)));
  matrix.shown = matrix.order;
  rows.slice(SPARE).forEach((row) => row.remove()); // Their numbers are in the data; the visible rows are reused.
  matrix.pool = rows.slice(0, SPARE).map((row, at) => ({ row, at, operator: matrix.order[at], key: "" }));
  for (const { row } of matrix.pool) {
    for (const bar of row.querySelectorAll("svg")) bar.replaceWith(element("i", { class: "bar" }));
  }
  matrix.home = rows[0].cells[0].firstElementChild;
  matrix.body.classList.add("live");
  matrix.frame.addEventListener("scroll", () => place(matrix), { passive: true });
  table.addEventListener("keydown", (event) => matrixKey(matrix, event));
  table.addEventListener("focusin", (event) => {
    rove(matrix, event.target.closest("a"));
    tip(event.target.closest("td a"));
  });
  table.addEventListener("focusout", () => tip(null));
  table.addEventListener("pointerover", (event) => tip(event.target.closest("td a")));
  table.addEventListener("pointerleave", () => tip(null));
  return matrix;
}

/** Draw the visible rows. */
function place(matrix) {
  if (byId("v-matrix").hidden || !tally.key) return;
  const { frame, shown } = matrix;
  const head = matrix.table.tHead.offsetHeight;
  // Rows that have not been removed yet may extend further: without this limit the first rows stay out of sight
  // until the browser itself scrolls back.
  const most = Math.max(0, shown.length * ROW + head - frame.clientHeight);
  if (frame.scrollTop > most) frame.scrollTop = most;
  const top = Math.min(frame.scrollTop, most);
  matrixDraw(matrix, Math.floor(top / ROW), Math.ceil((top + frame.clientHeight - head) / ROW));
}

function matrixDraw(matrix, first, last) {
  const missing = new Set();
  for (let at = first; at < Math.min(last, matrix.shown.length); at += 1) missing.add(at);
  const focused = document.activeElement?.closest?.(".live tr"); // A row with the focus is not reused.
  const free = [];
  for (const it of matrix.pool) {
    const same = matrix.shown[it.at] === it.operator;
    if (same && (missing.has(it.at) || it.row === focused)) missing.delete(it.at);
    else free.push(it);
  }
  for (const at of missing) {
    let it = free.pop();
    if (!it) {
      it = { row: matrix.pool[0].row.cloneNode(true), key: "" };
      it.row.cells[0].firstElementChild.setAttribute("tabindex", "-1");
      matrix.body.append(it.row);
      matrix.pool.push(it);
    }
    it.at = at;
    it.key = "";
  }
  for (const it of matrix.pool) {
    const used = !free.includes(it);
    if (it.row.hidden === used) it.row.hidden = !used;
    if (used) fillRow(matrix, it);
  }
  if (matrix.home.closest("tr").hidden) rove(matrix, matrix.pool.find(({ row }) => !row.hidden).row.cells[0].firstElementChild);
}

/** Counts by verdict of an operator version on a backend; -1: of all of them. */
function rowCounts(operator, column) {
  const columns = data.columns.length;
  const kinds = data.styles.length;
  if (operator >= 0) {
    const first = (operator * columns + column) * kinds;
    return Array.from(tally.counts.subarray(first, first + kinds));
  }
  const sum = new Array(kinds).fill(0);
  for (let n = 0; n < data.operators.length; n += 1) {
    const first = (n * columns + column) * kinds;
    for (let kind = 0; kind < kinds; kind += 1) sum[kind] += tally.counts[first + kind];
  }
  return sum;
}

function nameRow(it, operator) {
  const name = operator < 0 ? "" : data.operators[operator];
  const version = name.slice(name.lastIndexOf("/") + 1);
  const [domain, ...rest] = name.slice(0, Math.max(0, name.length - version.length - 1)).split("/");
  const small = domain && domain !== "ai.onnx" ? [" ", element("small", {}, domain)] : [];
  const label = rest.length ? [`${rest.join("/")} `, element("b", {}, version), ...small] : [name || "?"];
  it.row.cells[0].firstElementChild.replaceChildren(...(operator < 0 ? ["All"] : label));
  it.row.classList.toggle("sum", operator < 0);
  it.operator = operator;
}

function fillRow(matrix, it) {
  if (it.key === tally.key) return;
  it.key = tally.key;
  const operator = matrix.shown[it.at];
  if (it.operator !== operator) nameRow(it, operator);
  it.row.style.top = `${it.at * ROW}px`;
  it.row.setAttribute("aria-rowindex", String(it.at + 2));
  const rest = { ...state, view: "cases", id: "" };
  const row = operator < 0 ? rest : { ...rest, op: data.operators[operator], version: "" };
  it.row.cells[0].firstElementChild.setAttribute("href", addressOf(row));
  const base = addressOf({ ...row, on: "" });
  const address = `${base}${base.includes("?") ? "&" : "?"}on=`;
  matrix.columns.forEach((column, at) => {
    const anchor = it.row.cells[at + 1].firstElementChild;
    fill(anchor, rowCounts(operator, column), address + encode(state.on || data.columns[column].label), matrix.textOf);
  });
}

/** Show the cases that match the filter. */
function matrixShow() {
  if (!matrices.length) return;
  const places = filtered();
  if (tally.key !== memory.key) {
    tally.counts = countsOf(places);
    tally.key = memory.key;
    const there = new Uint8Array(data.operators.length);
    for (const number of places) there[data.by.operator[number]] = 1;
    for (const matrix of matrices) {
      matrix.shown = matrix.order.filter((operator) => operator < 0 || there[operator]);
      matrix.table.setAttribute("aria-rowcount", String(matrix.shown.length + 1));
      matrix.body.style.height = `${matrix.shown.length * ROW}px`;
    }
  }
  matrices.forEach(place);
}

/** One cell of a matrix can be reached with Tab, the others from there with arrow keys. */
function rove(matrix, anchor) {
  if (!anchor || anchor.closest("thead")) return;
  matrix.home.setAttribute("tabindex", "-1");
  matrix.home = anchor;
  anchor.setAttribute("tabindex", "0");
}

const STEPS = {
  ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0],
  Home: [0, -1e9], End: [0, 1e9], PageDown: [15, 0], PageUp: [-15, 0],
};

function matrixKey(matrix, event) {
  const step = STEPS[event.key];
  const cell = event.target.closest("th, td");
  if (!step || !cell || event.altKey || event.metaKey) return;
  event.preventDefault();
  const limit = (number, most) => Math.max(0, Math.min(most, number));
  const { frame, table } = matrix;
  const { at } = matrix.pool.find(({ row }) => row === cell.parentElement);
  const far = event.ctrlKey && step[1] ? Math.sign(step[1]) * 1e9 : step[0];
  const to = limit(at + far, matrix.shown.length - 1);
  const head = table.tHead.offsetHeight;
  if (to * ROW < frame.scrollTop) frame.scrollTop = to * ROW;
  else if ((to + 1) * ROW + head > frame.scrollTop + frame.clientHeight) frame.scrollTop = (to + 1) * ROW + head - frame.clientHeight;
  place(matrix);
  const { row } = matrix.pool.find((it) => it.at === to && !it.row.hidden);
  const next = row.cells[limit(cell.cellIndex + step[1], row.cells.length - 1)].firstElementChild;
  rove(matrix, next);
  next.focus({ preventScroll: true });
  if (step[1]) next.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** Show the full text of a cell next to it. */
function tip(anchor) {
  const box = byId("tip");
  box.hidden = !anchor;
  if (!anchor) return;
  const [first, ...others] = anchor.getAttribute("aria-label").split("; ");
  const row = anchor.closest("tr").cells[0].textContent.trim();
  const column = anchor.closest("table").tHead.rows[0].cells[anchor.parentElement.cellIndex].textContent;
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
