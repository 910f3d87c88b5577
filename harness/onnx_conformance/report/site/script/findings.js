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
    it.issue && ["issue", outward(it.issue, it.issue)],
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
      it.related ? [element("h2", {}, "Related findings"), element("ul", { class: "plain" }, it.related.map((other) => element("li", {}, Object.hasOwn(shared.findings, other) ? findingLink(other, other) : other)))] : "",
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

/** The list of findings; "#runtime=tract&kind=crash&state=open" filters it. */
async function findingsBegin() {
  const [shared, { findings }] = await Promise.all([jsonData("site"), jsonData("search")]);
  use(shared);
  const fields = { runtime: 4, kind: 2, state: 5 };
  const words = { kind: (name) => name.replaceAll("_", " "), state: (name) => STATES[name] ?? name, runtime: (name) => name };
  const chosen = Object.fromEntries(named().split("&").map((part) => part.split("=").map(decode)));
  const list = element("ol", { class: "findings" });
  const status = element("p", { role: "status", class: "note" });
  const more = element("button", { type: "button" }, "Show more");
  let most = MOST_LISTED;
  const selects = Object.entries(fields).map(([name, place]) => {
    const values = [...new Set(findings.map((row) => row[place]))].sort();
    const select = element("select", { id: `f-${name}` }, element("option", { value: "" }, "any"), values.map((value) => element("option", { value }, words[name](value))));
    select.value = chosen[name] ?? "";
    if (select.selectedIndex < 0) select.value = "";
    select.addEventListener("change", () => {
      most = MOST_LISTED;
      show();
    });
    return element("label", {}, name === "kind" ? "Kind" : name === "state" ? "State" : "Runtime or tool", select);
  });
  const show = () => {
    const values = Object.fromEntries(Object.keys(fields).map((name) => [name, byId(`f-${name}`).value]));
    const fitting = findings.filter((row) => Object.entries(fields).every(([name, place]) => !values[name] || row[place] === values[name]));
    const hash = Object.entries(values).filter(([, value]) => value).map(([name, value]) => `${name}=${encode(value)}`).join("&");
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname);
    status.textContent = `${count(fitting.length)} of ${count(findings.length)} findings, most severe kind first. Those marked “not counted” violate only a “should”, a reading or a reworded sentence.`;
    list.replaceChildren(
      ...fitting.slice(0, most).map(([id, title, kind, operator, runtime, state, number, apart]) =>
        element("li", {}, kindBadge(kind), " ", findingLink(id, title), " ", element("span", { class: "dim" }, `${runtime} · ${shortName(operator)} · ${cases(number)}${state === "open" ? "" : ` · ${STATES[state] ?? state}`}${apart ? " · not counted" : ""}`)),
      ),
    );
    more.hidden = fitting.length <= most;
  };
  more.addEventListener("click", () => {
    most += 400;
    show();
  });
  byId("shown").replaceChildren(element("h1", {}, "Findings"), element("div", { class: "filter open plain" }, selects), status, list, more);
  show();
}
