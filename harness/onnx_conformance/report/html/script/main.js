// SPDX-License-Identifier: Apache-2.0
// The state of the page: address, filter fields, keys, colours.

const VIEWS = ["matrix", "cases", "case", "groups", "changes"];
const field = (name) => byId(`f-${name}`);
let suggesting = 0;

function go(next, { replace = false } = {}) {
  const address = addressOf(next);
  if (address !== location.hash) history[replace ? "replaceState" : "pushState"](null, "", address);
  show();
}

function show() {
  const before = state;
  state = parse(location.hash);
  for (const view of VIEWS) byId(`v-${view}`).hidden = view !== state.view;
  for (const anchor of document.querySelectorAll("nav a")) {
    const view = anchor.dataset.view;
    if (view === (state.view === "case" ? "cases" : state.view)) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
    anchor.setAttribute("href", addressOf({ ...state, view, id: "" }));
  }
  for (const name of ["q", "op", "version", "type", "form", "tag", "verdict", "on", "clause"]) {
    const input = field(name);
    if (input !== document.activeElement || input.value.trim() !== (state[name] ?? "")) input.value = state[name] ?? "";
    input.classList.toggle("set", Boolean(state[name]));
  }
  if (before.op !== state.op) {
    clearTimeout(suggesting); // Not while the user is typing.
    suggesting = setTimeout(suggest, 250);
  }
  tip(null);
  render();
  if (before.view !== state.view || before.id !== state.id) settle(before);
}

function render() {
  if (state.q && !data.messageTexts) {
    loadMessages().then(render);
    return;
  }
  const places = filtered();
  const extra = [state.change && `change: ${state.change}`, state.group && "one group of failures"].filter(Boolean);
  const whole = places.length === data.count;
  byId("count").textContent =
    (whole ? cases(data.count) : `${count(places.length)} of ${cases(data.count)}`) + (extra.length ? ` (${extra.join(", ")})` : "");
  const done = { matrix: matrixShow, cases: casesShow, case: caseShow, groups: groupsShow, changes: changesShow }[state.view]();
  Promise.resolve(done).then(() => {
    if (document.documentElement.dataset.state !== "ready") document.documentElement.dataset.state = "ready";
  });
}

/** Put the focus where a keyboard user expects it. */
function settle(before) {
  if (state.view === "cases" && before.view === "case") byId("list")?.focus({ preventScroll: true });
  if (state.view === "case") setTimeout(() => byId("back")?.focus({ preventScroll: true }), 60);
  if (state.view !== before.view && state.view !== "matrix") window.scrollTo(0, 0);
}

function options(name, none, values) {
  field(name).replaceChildren(
    element("option", { value: "" }, none),
    ...values.map((value) => {
      const [key, text] = Array.isArray(value) ? value : [value, value];
      const option = element("option", {}, text);
      option.value = key;
      return option;
    }),
  );
}

const numerically = (a, b) => Number(a) - Number(b) || (a < b ? -1 : 1);

function fieldsBegin() {
  options("version", "any", [...new Set(data.versions)].sort(numerically));
  options("type", "any", data.types.map((name) => (name ? name : ["none", "(none)"])).sort());
  options("form", "any", [...data.forms].sort());
  options("tag", "any", [...data.tags].sort());
  const there = data.styles.filter((_, number) => data.verdicts.some((numbers) => numbers.includes(number)));
  options("verdict", "any", [["failed", "any failure"], ["differ", "backends differ"], ...there.map(({ name, words }) => [name, words])]);
  options("on", "any", data.columns.map(({ label }) => label));
  const names = [...new Set(data.operators.map((name) => name.split("/")[1] ?? name))].sort();
  byId("operators").replaceChildren(...names.map((name) => element("option", { value: name })));
  const form = byId("filter");
  form.addEventListener("input", (event) => read(event.target));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    go({ view: state.view === "case" ? "cases" : state.view, id: "" });
  });
}

/** Offer the sentences of the operator that is chosen. */
function suggest() {
  const matching = state.op ? operatorTest(state.op) : [];
  const clauses = new Set();
  if (matching.some(Boolean)) {
    for (let place = 0; place < data.count && clauses.size < 200; place += 1) {
      if (matching[data.by.operator[place]]) for (const clause of data.clauseSets[data.by.clauses[place]]) clauses.add(clause);
    }
  }
  byId("sentences").replaceChildren(...[...clauses].map((number) => element("option", { value: data.clauses[number] })));
}

function read(input) {
  const name = input.id.slice(2);
  const next = { ...state, [name]: input.value.trim() };
  if (next.view === "case") Object.assign(next, { view: "cases", id: "" });
  const typed = input.tagName === "INPUT";
  go(next, { replace: typed && Boolean(state[name]) && state.view === next.view });
}

let afterG = 0;

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
  const typing = event.target.closest?.("input, select, textarea");
  if (event.key === "Escape") {
    if (typing) typing.blur();
    else if (state.view === "case") go({ ...state, view: "cases", id: "" });
    tip(null);
    return;
  }
  if (typing) return;
  const gone = Date.now() - afterG < 1200 && { m: "matrix", c: "cases", f: "groups", d: "changes" }[event.key];
  afterG = event.key === "g" ? Date.now() : 0;
  if (gone) go({ ...state, view: gone, id: "" });
  else if (event.key === "/") field("q").focus();
  else if (event.key === "?") byId("keys").showModal();
  else if (event.key === "n" || event.key === "p") byId(event.key === "n" ? "next" : "prev")?.click();
  else return;
  event.preventDefault();
}

async function begin() {
  themeBegin();
  byId("help").addEventListener("click", () => byId("keys").showModal());
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
  });
  await load();
  fieldsBegin();
  matrixBegin();
  framesBegin();
  casesBegin();
  document.addEventListener("keydown", key);
  window.addEventListener("popstate", show);
  window.addEventListener("resize", () => state.view === "cases" && casesShow());
  state = { view: "", id: "" };
  show();
  requestIdleCallback(() => loadMessages());
}

begin().catch((error) => {
  byId("main").prepend(element("p", { class: "cut", role: "alert" }, `The page could not be read: ${error.message}`));
  throw error;
});
