// SPDX-License-Identifier: Apache-2.0
// The search: names first, then findings and cases that contain the words.

const MOST_HITS = 30;
const hits = { all: null, active: -1, shown: [] };

async function searchable() {
  if (hits.all) return hits.all;
  const { operators, runtimes, tools, findings } = await jsonData("search");
  hits.all = {
    names: [
      ...operators.map(([name, slug, ids]) => ({ text: shortName(name), whole: name, page: `operator/${slug}.html`, what: `operator, ${cases(ids.length)}` })),
      ...runtimes.map(([name, slug]) => ({ text: name, whole: name, page: `runtime/${slug}.html`, what: "runtime" })),
      ...tools.map(([name, page, what]) => ({ text: name, whole: name, page, what })),
    ],
    findings: findings.map(([id, title, kind, operator, runtime]) => ({ text: title, whole: `${id} ${title} ${operator}`, page: `finding.html#${encode(id)}`, what: `finding, ${runtime}, ${shortName(operator)}, ${kind.replaceAll("_", " ")}` })),
    cases: operators.flatMap(([name, , ids]) => ids.map((id) => (id.startsWith("/") || !id ? name + id : `${name}/${id}`))),
  };
  for (const it of [...hits.all.names, ...hits.all.findings]) it.lower = it.whole.toLowerCase();
  hits.all.lower = hits.all.cases.map((id) => id.toLowerCase());
  return hits.all;
}

/** How well a name matches: 0 equal, 1 begins with the words, 2 a part begins with them, 3 contains them; -1: no match. */
function fit(it, words) {
  const text = it.text.toLowerCase();
  if (text === words || it.lower === words) return 0;
  if (text.startsWith(words)) return 1;
  const at = it.lower.indexOf(words);
  if (at < 0) return -1;
  return at === 0 || !/[a-z0-9]/.test(it.lower[at - 1]) ? 2 : 3;
}

function ranked(list, words) {
  return list
    .map((it) => ({ it, how: fit(it, words) }))
    .filter(({ how }) => how >= 0)
    .sort((a, b) => a.how - b.how || a.it.text.length - b.it.text.length || (a.it.text < b.it.text ? -1 : 1))
    .map(({ it }) => it);
}

/** The pages that match the words, names first. */
function hitsOf(all, text) {
  const words = text.trim().toLowerCase();
  if (!words) return [];
  const list = [...ranked(all.names, words).slice(0, 12), ...ranked(all.findings, words).slice(0, 8)];
  const begin = [];
  const within = [];
  for (let n = 0; n < all.lower.length && begin.length < MOST_HITS; n += 1) {
    const id = all.lower[n];
    const at = id.indexOf(words);
    if (at < 0) continue;
    const parts = id.split("/");
    if (parts[1] === words || at === 0) begin.push(all.cases[n]);
    else if (within.length < MOST_HITS) within.push(all.cases[n]);
  }
  for (const id of [...begin, ...within]) {
    if (list.length >= MOST_HITS) break;
    list.push({ text: id, page: `case.html#${encode(id)}`, what: "case" });
  }
  return list;
}

async function searchShow() {
  const input = byId("search");
  const text = input.value;
  const box = byId("hits");
  const list = hitsOf(await searchable(), text);
  if (input.value !== text) return;
  hits.shown = list;
  hits.active = list.length ? 0 : -1;
  const rows = list.map((it, number) =>
    element("li", { role: "option", id: `hit${number}` }, anchor(it.page, { tabindex: "-1" }, element("span", { class: "hit" }, it.text), " ", element("small", {}, it.what))),
  );
  box.replaceChildren(...(rows.length || !text.trim() ? rows : [element("li", { class: "dim" }, `Nothing matches ${text.trim()}.`)]));
  box.hidden = !text.trim();
  input.setAttribute("aria-expanded", String(!box.hidden));
  activate(hits.active);
}

function activate(number) {
  hits.active = number;
  [...byId("hits").children].forEach((row, at) => row.setAttribute("aria-selected", String(at === number)));
  const row = byId(`hit${number}`);
  row?.scrollIntoView({ block: "nearest" });
  byId("search").setAttribute("aria-activedescendant", row ? row.id : "");
}

function searchHide() {
  byId("hits").hidden = true;
  byId("search").setAttribute("aria-expanded", "false");
}

function searchBegin() {
  const input = byId("search");
  input.addEventListener("focus", () => searchable().catch(fail));
  input.addEventListener("input", () => searchShow().catch(fail));
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && hits.shown.length) {
      activate((hits.active + step + hits.shown.length) % hits.shown.length);
      event.preventDefault();
    } else if (event.key === "Enter" && hits.shown[hits.active]) {
      searchHide();
      location.href = here.root + hits.shown[hits.active].page;
      event.preventDefault();
    } else if (event.key === "Escape") {
      searchHide();
    }
  });
  byId("hits").addEventListener("click", searchHide);
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".search")) searchHide();
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, select, textarea");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    input.focus();
    event.preventDefault();
  });
}
