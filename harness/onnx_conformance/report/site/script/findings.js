// SPDX-License-Identifier: Apache-2.0
// The page of the finding in the address, and the list of all findings.

const STATES = { open: "open", fixed: "fixed", back: "regressed" };
let findingTurn = 0;

const rows = (pairs) => element("dl", { class: "named" }, pairs.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
const ofVersions = (versions) => (versions ? `, ${versions.length === 1 ? "version" : "versions"} ${versions.join(", ")}` : "");
const kindBadge = (kind) => badge(data.number[kind]);

function factsOf(it) {
  const list = (label, names) => (names?.length ? [label, names.join(", ")] : null);
  return [
    ["operator", element("span", {}, operatorPage(it.operator, shortName(it.operator)), ofVersions(it.versions))],
    list("types", it.types),
    list("forms", it.forms),
    list("conditions", it.conditions),
    list(it.guilty?.length > 1 ? "passes that cause it together" : "pass that causes it", it.guilty),
    list("fails in", it.since?.failing),
    list("passes in", it.since?.passing),
    ["shown by", cases(it.count ?? 0)],
    it.confirmed && ["confirmed", [it.confirmed.date, it.confirmed.version && `on ${it.confirmed.version}`, it.confirmed.exit !== undefined && `exit status ${it.confirmed.exit}`, it.confirmed.said].filter(Boolean).join(", ")],
    it.severity && ["severity", it.severity],
    it.issue && ["issue", outward(it.issue, it.issue)],
    it.reported && ["reported", outward(it.reported.link, [it.reported.date, it.reported.link].filter(Boolean).join(" "))],
    it.answered && ["answer", [it.answered.state, it.answered.version, it.answered.reason, it.answered.date].filter(Boolean).join(", ")],
  ].filter(Boolean);
}

/** A link to a case; a minimized case may have no page. */
const knownCase = (it, id) => (it.known.includes(id) ? caseLink(id) : id);

const FORCES = { must: "a must", should: "a “should”", describes: "a description", signature: "the signature" };

function exampleOf(it) {
  if (!it.model && !it.given && !it.expected) return "";
  return element(
    "section",
    {},
    element("h2", {}, "Smallest case"),
    it.case ? element("p", { class: "id" }, knownCase(it, it.case)) : "",
    element(
      "div",
      { class: "pairs" },
      element("div", {}, element("h3", {}, "Model"), element("pre", { id: "model", tabindex: "0" }, it.model ?? "")),
      element(
        "div",
        {},
        element("h3", {}, "Inputs"),
        it.inputs ? rows(it.inputs) : element("p", { class: "dim" }, "none"),
        element("h3", {}, "Expected"),
        it.expected ? rows(it.expected) : element("p", { class: "dim" }, "a rejection"),
        element("h3", {}, `Actual (${it.backend})`),
        it.made ? element("pre", { class: "made", tabindex: "0" }, it.made) : "",
        it.made && it.given ? element("p", { class: "dim" }, "which evaluates to") : "",
        it.given ? rows(it.given) : it.made ? "" : element("p", { class: "message" }, element("mark", {}, it.kind === "accepted_invalid" ? "accepted" : "no answer")),
        it.message ? element("p", { class: "message dim" }, it.message) : "",
      ),
    ),
  );
}

function tableOf(heads, lines) {
  return element(
    "div",
    { class: "frame plain" },
    element("table", { class: "listed" }, element("thead", {}, element("tr", {}, heads.map((text) => element("th", { scope: "col" }, text)))), element("tbody", {}, lines.map((cells) => element("tr", {}, cells.map((cell) => element("td", {}, cell)))))),
  );
}

function scriptPart(it) {
  if (!it.script) return "";
  const file = `${it.id.replace(/[^\w.-]+/g, "_")}.py`;
  const download = element("button", { type: "button", id: "download" }, `Download ${file}`);
  download.addEventListener("click", () => {
    const address = URL.createObjectURL(new Blob([it.script], { type: "text/x-python" }));
    element("a", { href: address, download: file }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  });
  return element("section", {}, element("h2", {}, "Script"), element("div", { class: "copy" }, copier("Copy script", () => it.script), download, element("span", { class: "dim" }, "one Python file that does not need this project")), element("pre", { class: "script", tabindex: "0" }, it.script));
}

async function findingShow() {
  const id = named();
  const turn = ++findingTurn;
  const section = byId("shown");
  const shared = await jsonData("site");
  use(shared);
  const file = Object.hasOwn(shared.findings, id) ? shared.findings[id] : "";
  const it = file ? (await jsonData(file))[id] : null;
  if (turn !== findingTurn) return;
  if (!it) {
    document.title = "Finding: ONNX conformance";
    section.replaceChildren(element("p", { class: "empty" }, `There is no finding ${id || "without an id"} on this site.`));
    return;
  }
  const column = shared.columns.find(({ unversioned }) => unversioned === it.backend);
  const runtime = `${it.backend} ${it.version ?? ""}`.trim();
  const binds = FORCES[it.force];
  section.replaceChildren(
    element("div", { class: "trail" }, anchor("findings.html", {}, "← findings"), operatorPage(it.operator, shortName(it.operator))),
    element(
      "article",
      { class: "case" },
      element("h1", { id: "finding-title" }, it.title),
      element("p", { class: "facts" }, kindBadge(it.kind), " ", column ? anchor(column.page, {}, runtime) : runtime, ` · ${STATES[it.state] ?? it.state}`, it.apart ? ` · not counted: ${it.why}` : ""),
      it.notes.map((text) => element("p", { class: "cut" }, text)),
      it.clause ? element("blockquote", {}, quoted(it.clause)) : "",
      it.clause && (binds || it.link) ? element("p", { class: "note" }, binds ? `It violates ${binds}. ` : "", it.link ? outward(it.link, "The specification at onnx.ai") : "") : "",
      rows(factsOf(it)),
      exampleOf(it),
      it.others ? [element("h2", {}, "Other runtimes on this case"), tableOf(["Runtime", "Verdict", "Answer"], it.others.map((other) => [`${other.backend} ${other.version}`, data.number[other.verdict] === undefined ? other.verdict : badge(data.number[other.verdict]), element("span", { class: "message" }, other.given)]))] : "",
      it.history ? [element("h2", {}, "History"), tableOf(["Version", "Date", "State"], it.history.map((line) => [line.version, line.date, STATES[line.state] ?? line.state]))] : "",
      scriptPart(it),
      it.cases ? [element("h2", {}, "Cases"), element("ul", { class: "plain" }, it.cases.map((name) => element("li", { class: "id" }, knownCase(it, name)))), it.count > it.cases.length ? element("p", { class: "note" }, `${count(it.count - it.cases.length)} more are not listed.`) : ""] : "",
      it.related ? [element("h2", {}, "Findings of the same cause"), element("ul", { class: "plain" }, it.related.map((other) => element("li", {}, Object.hasOwn(shared.findings, other) ? findingLink(other, other) : other)))] : "",
    ),
  );
  document.title = `${it.title}: ONNX conformance`;
  window.scrollTo(0, 0);
}

function findingBegin() {
  window.addEventListener("hashchange", () => findingShow().catch(fail));
  return findingShow();
}

const MOST_LISTED = 100;
const NATURES = {
  typical: "calls that collected models make",
  uncommon: "valid calls that no collected model makes",
  edge: "edges: NaN, infinity, limits, unusual forms of models",
  degenerate: "empty tensors",
  invalid: "invalid models",
};
/** A filter of the list: its label, the values of a finding that it compares, and the words for a value. */
const FINDING_FILTERS = {
  runtime: { label: "Runtime or tool", of: (row) => [row[4]] },
  operator: { label: "Operator", of: (row) => [row[3]], words: (name) => shortName(name) },
  version: { label: "Version of it", of: (row) => row[10].map(String) },
  kind: { label: "Kind", of: (row) => [row[2]], words: (name) => name.replaceAll("_", " ") },
  nature: { label: "Severity", of: (row) => [row[8]], words: (name) => NATURES[name] },
  state: { label: "State", of: (row) => [row[5]], words: (name) => STATES[name] ?? name },
  known: { label: "Reported", of: (row) => [row[11] ? "yes" : "no"] },
};

/** The list of findings; "#runtime=tract&kind=crash&text=axis" filters it, and "every=1" shows more than one of a cause. */
async function findingsBegin() {
  const [shared, { findings }] = await Promise.all([jsonData("site"), jsonData("search")]);
  use(shared);
  const chosen = Object.fromEntries(named().split("&").map((part) => part.split("=").map(decode)));
  const counted = [...findings.filter((row) => !row[7]), ...findings.filter((row) => row[7])];
  const list = element("div", {});
  const status = element("p", { role: "status", class: "note" });
  const more = element("button", { type: "button" }, "Show more");
  let most = MOST_LISTED;
  const again = () => {
    most = MOST_LISTED;
    show();
  };
  const order = (name) => (name === "nature" ? (a, b) => Object.keys(NATURES).indexOf(a) - Object.keys(NATURES).indexOf(b) : name === "version" ? (a, b) => a - b : undefined);
  const selects = Object.entries(FINDING_FILTERS).map(([name, { label, of, words }]) => {
    const values = [...new Set(findings.flatMap(of))].sort(order(name));
    const select = element("select", { id: `f-${name}` }, element("option", { value: "" }, "any"), values.map((value) => element("option", { value }, words ? words(value) : value)));
    select.value = chosen[name] ?? "";
    if (select.selectedIndex < 0) select.value = "";
    select.addEventListener("change", again);
    return element("label", {}, label, select);
  });
  const text = element("input", { id: "f-text", type: "search", value: chosen.text ?? "", autocomplete: "off" });
  text.addEventListener("input", again);
  const every = element("input", { id: "f-every", type: "checkbox" });
  every.checked = chosen.every === "1";
  every.addEventListener("change", again);
  const item = ([id, title, kind, operator, runtime, state, number, , , , , known], same) =>
    element("li", {}, kindBadge(kind), " ", findingLink(id, title), " ", element("span", { class: "dim" }, `${runtime} · ${shortName(operator)} · ${cases(number)}${same > 1 ? ` · ${count(same - 1)} more of this cause` : ""}${state === "open" ? "" : ` · ${STATES[state] ?? state}`}${known ? " · reported" : ""}`));
  const show = () => {
    const values = Object.fromEntries(Object.keys(FINDING_FILTERS).map((name) => [name, byId(`f-${name}`).value]));
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fitting = counted.filter((row) => Object.entries(FINDING_FILTERS).every(([name, { of }]) => !values[name] || of(row).includes(values[name])) && words.every((word) => `${row[0]} ${row[1]} ${row[3]}`.toLowerCase().includes(word)));
    const parts = Object.entries({ ...values, text: text.value.trim(), every: every.checked ? "1" : "" }).filter(([, value]) => value);
    history.replaceState(null, "", parts.length ? `#${parts.map(([name, value]) => `${name}=${encode(value)}`).join("&")}` : location.pathname);
    const sizes = new Map();
    for (const row of fitting) sizes.set(row[9], (sizes.get(row[9]) ?? 0) + 1);
    const seen = new Set();
    const listed = every.checked ? fitting : fitting.filter((row) => !seen.has(row[9]) && seen.add(row[9]));
    status.textContent = `${count(sizes.size)} causes, ${count(fitting.length)} of ${count(findings.length)} findings. Calls that collected models make are first, and among these calls the ones with a silent wrong result.`;
    const rest = listed.slice(0, most);
    const groups = Object.entries(NATURES).map(([nature, title]) => [title[0].toUpperCase() + title.slice(1), rest.filter((row) => row[8] === nature && !row[7])]);
    groups.push(["Not counted: an accepted invalid model, a fault of the runtime inside a tool, a “should”, a reading, a reworded sentence, rounding, or a documented limit", rest.filter((row) => row[7])]);
    list.replaceChildren(
      ...groups.filter(([, rows]) => rows.length).flatMap(([title, rows]) => [element("h2", {}, title), element("ol", { class: "findings" }, rows.map((row) => item(row, every.checked ? 1 : sizes.get(row[9]))))]),
    );
    more.hidden = listed.length <= most;
  };
  more.addEventListener("click", () => {
    most += 400;
    show();
  });
  byId("shown").replaceChildren(
    element("h1", {}, "Findings"),
    element("div", { class: "filter open plain" }, selects, element("label", { class: "wide" }, "Text", text), element("label", {}, "Every finding", every)),
    status,
    list,
    more,
  );
  show();
}
