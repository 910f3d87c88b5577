(() => {
"use strict";
// Blocks: gzip in base64.

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const plain = atob(text);
  const bytes = new Uint8Array(plain.length);
  for (let i = 0; i < plain.length; i += 1) bytes[i] = plain.charCodeAt(i);
  return bytes;
}

async function unpacked(text) {
  const packed = new Blob([bytesOf(text)]);
  return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

const jsonOf = (bytes) => JSON.parse(new TextDecoder().decode(bytes));

const KINDS = { int32: Int32Array, uint8: Uint8Array };

// Elements are created one by one with text nodes; nothing here parses markup from a string.

const byId = (id) => document.getElementById(id);
const count = (number) => number.toLocaleString("en");

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

function badge(number, { full = true } = {}) {
  const style = data.styles[number];
  if (!style) return element("span", { class: "badge b-none", title: "no data" }, full ? "no data" : "·");
  if (!full) return element("span", { class: `badge b-${style.family}`, title: style.words }, style.letter);
  return element("span", { class: `badge b-${style.family}` }, style.words);
}

const quoted = (clause) => (clause.startsWith("Signature: ") ? clause : `«${clause}»`);

const cases = (number) => `${count(number)} ${number === 1 ? "case" : "cases"}`;

/** Floored, with one decimal; no data is not 0 %. */
function rate(part, whole) {
  if (!whole) return "no data";
  const tenths = Math.floor((part * 1000) / whole);
  return `${Math.floor(tenths / 10)}.${tenths % 10} %`;
}

/** passed, specified, attempted of counts by verdict; results/summary.py does the same. */
function rates(counts) {
  const of = (name) => counts[data.number[name]] ?? 0;
  const total = counts.reduce((sum, number) => sum + number, 0);
  const specified = total - of("unspecified") - of("lenient") - of("knows_less");
  return { total, passed: of("pass"), specified, attempted: specified - of("unsupported") - of("adapter_error") };
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element("textarea", { "aria-hidden": "true", class: "skip" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy"); // Where the page may not use the clipboard API.
    area.remove();
    return done;
  }
}

/** A button that copies the result of `make`, and its status. */
function copier(label, make) {
  const button = element("button", { type: "button" }, label);
  const status = element("span", { role: "status", class: "dim" });
  button.addEventListener("click", async () => {
    status.textContent = (await copy(make())) ? "copied" : "the browser does not allow it; select the text";
  });
  return [button, status];
}

// Counts by verdict as a sentence, and as the parts of a bar.

function sentenceOf(counts) {
  const { total, passed, specified, attempted } = rates(counts);
  if (!total) return "no data";
  const others = data.styles
    .map((style, number) => (style.name !== "pass" && counts[number] ? `${counts[number]} ${style.words}` : ""))
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
  const families = new Map();
  counts.forEach((number, verdict) => {
    const { family } = data.styles[verdict];
    if (number) families.set(family, (families.get(family) ?? 0) + number);
  });
  let whole = 0;
  for (const [family, number] of families) {
    const width = Math.max(data.least, Math.floor((number * 1000) / total));
    families.set(family, width);
    whole += width;
  }
  let first = 0;
  return Array.from(families, ([family, width]) => {
    const share = Math.floor((width * 1000) / whole);
    first += share;
    return [family, first - share, share];
  });
}

// The script that shows a mismatch without the harness, as harness/repro/script.py makes it.

const safe = (text, limit = 500) => {
  const cut = text.length <= limit ? text : `${text.slice(0, limit)}... (${text.length} characters)`;
  return cut.replaceAll("\\", "\\\\").replaceAll('"""', "'''").replaceAll("\n", " ");
};

function scriptOf(place, column, described, details, message) {
  const backend = data.columns[column];
  const verdict = data.styles[data.verdicts[column][place]].name;
  const all = data.clauseSets[data.by.clauses[place]].map((number) => data.clauses[number]);
  const clauses = described.clauses ?? all;
  const head = [
    `"""${safe(data.ids[place])} on ${safe(backend.runtime)}: ${verdict}.`,
    "",
    ...clauses.map((clause) => `The text: ${safe(quoted(clause))}`),
    ...(message ? [`Seen: ${safe(message)}`] : []),
    backend.needs,
    '"""',
    "",
    "",
  ].join("\n");
  const code = backend.calls[described.way].trimEnd();
  const indented = code.replace(/^/gm, "    ");
  const call = described.rejects ? data.pieces.refusal.replace("{call}", () => indented) : `${code}\n`;
  const hang = verdict === "timeout" ? data.pieces.hang : "";
  return `${head}${hang}${described.before}${call}${afterCall(backend.subject, described)}`;
}

/** The code from the call to the end, as `after` of harness/repro/script.py makes it. */
function afterCall(subject, described) {
  const settings = described.after ?? "";
  const names = described.checks ?? [];
  const checks = names.map((name) => data.pieces.checks[name]).join("");
  if (subject === "runtime") return data.pieces.got + settings + checks;
  if (described.rejects) return settings;
  const tool = data.pieces.tools[subject];
  if (!tool.judges) return settings + tool.before + checks;
  const compared = names.filter((name) => name !== "end").map((name) => data.pieces.checks[name]).join("");
  const indented = compared.replace(/^\n+|\n+$/g, "").replaceAll("\n\n\n", "\n\n").replace(/^(?=.)/gm, "    ");
  return settings + tool.before + indented + tool.judges;
}

const shellQuoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);

function commandOf(place, column) {
  const { backend, suite } = data.columns[column];
  const words = ["onnx-conformance", "repro", data.ids[place], "--backend", backend];
  if (suite !== "generated" && suite !== "official") words.push("--suite", suite);
  return words.map(shellQuoted).join(" ");
}

// The page of a case: sentence, model, inputs, what is expected, each backend's answer, and how to reproduce it.

function page(place, details, described) {
  const { by } = data;
  const operator = data.operators[by.operator[place]];
  const facts = [
    operatorLink(operator),
    data.types[by.type[place]] && `type ${data.types[by.type[place]]}`,
    `form ${data.forms[by.form[place]]}`,
    `expects ${data.outcomes[by.outcome[place]]}`,
    data.tagSets[by.tags[place]].length && `tags ${data.tagSets[by.tags[place]].map((n) => data.tags[n]).join(", ")}`,
  ].filter(Boolean);
  const clauses = data.clauseSets[by.clauses[place]].map((number) => data.clauses[number]);
  return element(
    "article",
    { class: "case" },
    element("h2", { class: "id", id: "case-title", tabindex: "-1" }, data.ids[place]),
    element("p", { class: "facts" }, facts.flatMap((fact, n) => (n ? [" · ", fact] : [fact]))),
    clauses.map((clause) => element("blockquote", {}, quoted(clause))),
    (described?.notes ?? []).map((note) => element("p", { class: "note" }, `Note: ${note}`)),
    (described?.readings ?? []).map((text) => element("p", { class: "note" }, `Reading ${text}`)),
    element("h2", {}, "Verdicts"),
    verdictTable(place, details),
    differences(place, details, described),
    scripts(place, details, described),
    described ? modelOf(described) : absent(),
  );
}

const absent = () =>
  element("p", { class: "note", id: "absent" }, "The model and the inputs of this case are not on this page; `onnx-conformance show` has them.");

function modelOf(described) {
  const named = (rows) => element("dl", { class: "named" }, rows.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
  const expected = described.decided
    ? element("p", {}, described.rejects ? `Must be refused: ${described.decided}` : `Left open by the text: ${described.decided}`)
    : named(described.expected ?? []);
  return element(
    "div",
    { class: "pairs" },
    element("div", {}, element("h2", {}, "Model"), element("pre", { id: "model", tabindex: "0" }, described.model)),
    element(
      "div",
      {},
      element("h2", {}, "Inputs"),
      described.inputs ? named(described.inputs) : element("p", { class: "dim" }, "none"),
      element("h2", {}, "Expected"),
      expected,
      described.decided ? "" : element("p", { class: "dim" }, `Tolerance: ${described.allowance}`),
    ),
  );
}

function verdictTable(place, details) {
  const timed = details.some(({ time }) => time !== undefined);
  const rows = data.columns.map(({ label }, column) => {
    const it = details[column];
    const ended = [it.signal && !messageOf(place, column).includes(it.signal) && `signal ${it.signal}`, it.attempts && `attempts ${it.attempts}`].filter(Boolean).join(", ");
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, label),
      element("td", {}, badge(data.verdicts[column][place])),
      element("td", { class: "message" }, messageOf(place, column), ended ? element("div", { class: "dim" }, ended) : "", it.erratum ? element("div", { class: "dim" }, `Erratum: the sentence ${it.erratum}`) : "", it.stderr ? element("details", {}, element("summary", {}, "end of its output"), element("pre", {}, it.stderr)) : ""),
      timed ? element("td", { class: "time" }, it.time === undefined ? "" : `${it.time} ms`) : "",
    );
  });
  const heads = ["Backend", "Verdict", "Message", ...(timed ? ["Time"] : [])];
  return element(
    "div",
    { class: "scroll" },
    element(
      "table",
      { class: "verdicts" },
      element("thead", {}, element("tr", {}, heads.map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, rows),
    ),
  );
}

/** Expected and actual values. Backends whose answers differ in the same tensor share a table. */
function differences(place, details, described) {
  const groups = new Map();
  const others = [];
  details.forEach((it, column) => {
    const mismatch = it.mismatch;
    if (mismatch?.wanted) {
      const key = JSON.stringify([mismatch.where, mismatch.start ?? 0, mismatch.wanted]);
      groups.set(key, [...(groups.get(key) ?? []), column]);
    } else if (mismatch || it.actual || (it.expected && it.expected !== "refused")) {
      others.push(column);
    }
  });
  if (!groups.size && !others.length) return "";
  const parts = [...groups.values()].map((columns) => elements(columns, details));
  if (others.length) parts.push(wholes(others, details, described));
  return element("div", { id: "differences" }, element("h2", {}, "Expected and actual"), parts);
}

/** The index of an element, such as [1,2], from its place in row-major order. */
function indexOf(flat, shape) {
  const index = [];
  let rest = flat;
  for (const size of [...(shape ?? [])].reverse()) {
    index.unshift(size ? rest % size : 0);
    rest = size ? Math.floor(rest / size) : 0;
  }
  return shape?.length ? `[${index.join(",")}]` : "";
}

function elements(columns, details) {
  const first = details[columns[0]].mismatch;
  const start = first.start ?? 0;
  const total = first.total ?? first.wanted.length;
  const differing = columns.map((column) => new Set(details[column].mismatch.differs ?? []));
  const before = start ? [element("td", { class: "dim" }, "…")] : [];
  const after = start + first.wanted.length < total ? [element("td", { class: "dim" }, `… ${count(total - start - first.wanted.length)} more`)] : [];
  const edge = (cells) => cells.map((cell) => cell.cloneNode(true));
  const cell = (text, marked) => element("td", {}, marked ? element("mark", {}, text) : text);
  const anywhere = (n) => differing.some((set) => set.has(start + n));
  const table = element(
    "table",
    { class: "elements" },
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, first.where ?? "element"), before.length ? element("td") : "", first.wanted.map((_, n) => element("th", { scope: "col" }, indexOf(start + n, first.shape) || "–")))),
    element(
      "tbody",
      {},
      element("tr", { class: "wanted" }, element("th", { scope: "row" }, "expected"), edge(before), first.wanted.map((text, n) => cell(text, anywhere(n))), edge(after)),
      columns.map((column, row) =>
        element("tr", { class: "given" }, element("th", { scope: "row" }, data.columns[column].label), edge(before), details[column].mismatch.given.map((text, n) => cell(text, differing[row].has(start + n))), edge(after)),
      ),
    ),
  );
  return element("div", {}, element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Elements" }, table), columns.map((column) => beyond(column, details[column].mismatch)));
}

/** The elements that differ beyond those shown, as far as the run kept them. */
function beyond(column, mismatch) {
  const start = mismatch.start ?? 0;
  const known = mismatch.differs ?? [];
  const outside = known.filter((flat) => flat < start || flat >= start + mismatch.wanted.length);
  const unknown = Math.max(0, (mismatch.differing ?? known.length) - known.length);
  const parts = [`${data.columns[column].label}: ${count(mismatch.differing ?? known.length)} of ${count(mismatch.total ?? 0)} elements differ`];
  if (outside.length) parts.push(`beyond those shown: ${outside.map((flat) => indexOf(flat, mismatch.shape)).join(" ")}`);
  if (unknown) parts.push(`${count(unknown)} more at positions that the run did not keep`);
  return element("p", { class: "note" }, parts.join("; "));
}

/** Answers that differ in shape, type or number, or are not scored. */
function wholes(columns, details, described) {
  const rows = columns.map((column) => {
    const { mismatch, expected, actual } = details[column];
    const text = expected ?? (described?.expected ?? []).map(([, text]) => text).join("; ");
    const differs = (text) => (mismatch && text ? [element("mark", {}, text), element("br")] : "");
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, data.columns[column].label),
      element("td", { class: "message" }, differs(mismatch?.expected), text || "–"),
      element("td", { class: "message" }, differs(mismatch?.actual), actual ?? "no answer"),
    );
  });
  const old = columns.some((column) => details[column].mismatch?.differing);
  const heads = ["Backend", "Expected", "Actual"];
  return element(
    "div",
    { class: "scroll" },
    element(
      "table",
      { class: "verdicts wholes" },
      element("thead", {}, element("tr", {}, heads.map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, rows),
    ),
    old ? element("p", { class: "note" }, "The worst element is marked; this run did not keep which others differ.") : "",
  );
}

function scripts(place, details, described) {
  const columns = data.columns.map((_, column) => column).filter((column) => {
    const style = data.styles[data.verdicts[column][place]];
    return style && style.name !== "pass";
  });
  if (!columns.length) return "";
  return element("div", {}, element("h2", {}, "Reproduce"), columns.map((column) => reproduction(place, column, details, described)));
}

function noScript(plain, described) {
  if (!plain) return "This run did not keep the code that calls this backend; the command makes the script.";
  return described ? "The script is too long for this page; the command makes it." : "This page does not contain the case; the command makes the script.";
}

function reproduction(place, column, details, described) {
  const { label, calls } = data.columns[column];
  const code = calls[described?.way ?? "plain"];
  const command = commandOf(place, column);
  const parts = [element("div", { class: "copy" }, element("code", {}, command), copier("Copy command", () => command))];
  if (described?.before && code) {
    const error = details[column].error;
    const whole = messageOf(place, column);
    const message = error && whole.startsWith(error) ? whole.slice(error.length + 2) : whole;
    const text = scriptOf(place, column, described, details[column], message);
    parts.push(element("div", { class: "copy" }, copier("Copy script", () => text), element("span", { class: "dim" }, "one Python file, which does not need this project")));
    parts.push(element("pre", { class: "script", tabindex: "0" }, text));
  } else {
    parts.push(element("p", { class: "note" }, noScript(code, described)));
  }
  return element("details", { class: "scripts" }, element("summary", {}, label, " ", badge(data.verdicts[column][place])), parts);
}

// Light, dark, or as the system has it; the choice is kept where the browser allows that.

const THEMES = [["", "Auto", "as the system has it"], ["light", "Light", "light"], ["dark", "Dark", "dark"]];

function theme(name) {
  const [value, label, description] = THEMES.find(([key]) => key === name) ?? THEMES[0];
  if (value) document.documentElement.dataset.theme = value;
  else delete document.documentElement.dataset.theme;
  byId("theme").textContent = label;
  byId("theme").setAttribute("aria-label", `Colours: ${description}`);
}

function themeBegin() {
  let chosen = "";
  try {
    chosen = localStorage.getItem("theme") ?? "";
  } catch {
    // A browser without storage for files.
  }
  theme(chosen);
  byId("theme").addEventListener("click", () => {
    const at = THEMES.findIndex(([key]) => key === (document.documentElement.dataset.theme ?? ""));
    const next = THEMES[(at + 1) % THEMES.length][0];
    theme(next);
    try {
      localStorage.setItem("theme", next);
    } catch {
      // As above.
    }
  });
}

// The data: files that each call one function with a block; they are loaded as scripts, which a page from disk may do.

const here = document.documentElement.dataset;
const waiting = new Map();

window.onnxConformance = (name, text) => waiting.get(name)?.(text);

const DATA_FILE = /^(\.\.\/)?data\/[\w-][\w.-]*(\/[\w-][\w.-]*)?\.js\?[0-9a-f]*$/;
const trusted = (address) => {
  if (!DATA_FILE.test(address)) throw new Error(`${address} is no data of this site`);
  return address;
};
const loader = window.trustedTypes?.createPolicy("data-files", { createScriptURL: trusted }) ?? { createScriptURL: trusted };
const loading = new Map();

/** The block of a data file, as it is packed. */
function packedData(name) {
  if (!loading.has(name)) {
    loading.set(
      name,
      new Promise((done, failed) => {
        const script = document.createElement("script");
        waiting.set(name, done);
        script.addEventListener("error", () => failed(new Error(`data/${name}.js is missing`)));
        script.src = loader.createScriptURL(`${here.root}data/${name}.js?${here.stamp}`);
        document.head.append(script);
      }),
    );
  }
  return loading.get(name);
}

const unpackedData = new Map();

function jsonData(name) {
  if (!unpackedData.has(name)) unpackedData.set(name, packedData(name).then(unpacked).then(jsonOf));
  return unpackedData.get(name);
}

/** What badges, rates and the page of a case read: styles of verdicts, columns, and the cases of one operator. */
const data = { styles: [], columns: [] };

function use(shared) {
  Object.assign(data, shared);
  data.number = Object.fromEntries(shared.styles.map((style, number) => [style.name, number]));
  data.byLetter = Object.fromEntries(shared.styles.map((style, number) => [style.letter, number]));
}

const verdictOf = (letter) => data.byLetter[letter] ?? data.absent;

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // Not an address of this site; shown as it is.
  }
}

const encode = (text) => encodeURIComponent(text).replaceAll("%2F", "/").replaceAll("%40", "@");
const named = () => decode(location.hash.slice(1));

const PAGE = /^(index|operators|findings|finding|case|operator\/[\w.-]+|runtime\/[\w.-]+|tool\/[\w.-]+)\.html(#.*)?$/s;

/** A link to a page of this site. */
function anchor(page, attributes, ...children) {
  if (!PAGE.test(page)) throw new Error(`${page} is no page of this site`);
  return element("a", { href: here.root + page, ...attributes }, ...children);
}

/** A link into the web; what is no such address stays a text. */
const outward = (address, ...children) =>
  /^https:\/\/\S+$/.test(address) ? element("a", { href: address, rel: "noreferrer" }, ...children) : element("span", {}, ...children);

const caseLink = (id, ...children) => anchor(`case.html#${encode(id)}`, {}, ...(children.length ? children : [id]));
const findingLink = (id, ...children) => anchor(`finding.html#${encode(id)}`, {}, ...children);
const shortName = (operator) => operator.replace(/^ai\.onnx\//, "");

function operatorPage(operator, ...children) {
  const slug = data.operators?.[operator];
  return slug ? anchor(`operator/${slug}.html`, {}, ...children) : element("span", {}, ...children);
}

/** The operator, without a version, that a case's id begins with; empty where it begins with none. */
function operatorOf(id) {
  const [domain, name] = id.split("/");
  const operator = `${domain}/${name}`;
  return data.operators[operator] ? operator : "";
}

// The search: names first, then what mentions them.

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

/** How well a name fits: 0 it is the words, 1 it begins with them, 2 a part of it does, 3 it has them; -1: not at all. */
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

/** The pages that words find, the names first. */
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
  box.replaceChildren(...(rows.length || !text.trim() ? rows : [element("li", { class: "dim" }, `Nothing is called ${text.trim()}.`)]));
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

// The filter of the front page: ranking and heat map on the cases of some operators, opsets and types.

const FIELDS = ["ops", "from", "to", "type"];
const front = { index: null, numbers: null, home: null };

/** Parse "#ops=Split,Conv&opset=18&type=float16"; opset is the same as from and to, `opset.DOMAIN` that of another domain. */
function filterOf(hash) {
  const filter = { domains: {} };
  for (const part of hash.replace(/^#/, "").split("&")) {
    const [key, value = ""] = part.split(/=(.*)/s);
    const text = decode(value.replaceAll("+", " ")).trim();
    if (!text) continue;
    if (key === "opset") [filter.from, filter.to] = [text.split("-")[0], text.split("-").at(-1)];
    else if (key.startsWith("opset.")) filter.domains[decode(key.slice(6))] = Number(text) || 0;
    else if (FIELDS.includes(key)) filter[key] = text;
  }
  return filter;
}

function hashOf(filter) {
  const same = filter.from && filter.from === filter.to;
  const parts = [
    filter.ops && `ops=${encode(filter.ops).replaceAll("%2C", ",").replaceAll("%20", "")}`,
    same ? `opset=${encode(filter.from)}` : "",
    !same && filter.from ? `from=${encode(filter.from)}` : "",
    !same && filter.to ? `to=${encode(filter.to)}` : "",
    ...Object.entries(filter.domains).map(([domain, version]) => `opset.${encode(domain)}=${version}`),
    filter.type && `type=${encode(filter.type)}`,
  ].filter(Boolean);
  return parts.length ? `#${parts.join("&")}` : "#";
}

const isSet = (filter) => FIELDS.some((field) => filter[field]) || Object.keys(filter.domains).length > 0;

/** The numbers of the operators that a list names, and the names that are none of this suite. */
function operatorsOf(text) {
  const byName = new Map(front.index.operators.map(([name], number) => [name.toLowerCase(), number]));
  const names = text.split(/[,\s]+/).filter(Boolean);
  const chosen = new Set();
  const unknown = [];
  for (const name of names) {
    const number = byName.get(name.toLowerCase()) ?? byName.get(`ai.onnx/${name.toLowerCase()}`);
    if (number === undefined) unknown.push(name);
    else chosen.add(number);
  }
  return { chosen, unknown };
}

const inForce = (since, until, from, to) => since <= to && (until === 0 || until >= from);

/** By operator version, whether the filter takes it, and whether the heat map shows it: with an opset, all that are taken. */
function versionsTaken(filter, chosen) {
  const whole = /^\d{1,6}$/;
  const from = whole.test(filter.from ?? "") ? Number(filter.from) : 0;
  const to = whole.test(filter.to ?? "") ? Number(filter.to) : Infinity;
  const limited = from > 0 || to < Infinity;
  return front.index.versions.map(([operator, since, until, newest]) => {
    if (filter.ops && !chosen.has(operator)) return [0, 0];
    const domain = front.index.operators[operator][0].split("/")[0];
    const own = filter.domains[domain];
    if (own) return inForce(since, until, own, own) ? [1, 1] : [0, 0];
    if (limited && domain === "ai.onnx") return inForce(since, until, from, to) ? [1, 1] : [0, 0];
    return [1, newest];
  });
}

/** Counts by verdict: of each runtime in all, and by row of the heat map. */
function countsOf(filter, taken, rowOf, rows) {
  const { layout, runtimes, types, styles, absent } = front.index;
  const columns = Object.fromEntries(layout.map(([name, kind, first, length]) => [name, new KINDS[kind](front.numbers, first, length)]));
  const type = filter.type ? types.indexOf(filter.type) : -1;
  const places = [];
  for (let place = 0; place < columns.version.length; place += 1) {
    const version = columns.version[place];
    if (version >= 0 && taken[version][0] && (!filter.type || columns.type[place] === type)) places.push(place);
  }
  const blank = () => new Array(styles.length).fill(0);
  const totals = runtimes.map(blank);
  const heat = Array.from({ length: rows }, () => runtimes.map(blank));
  runtimes.forEach((_, number) => {
    const verdicts = columns[`verdicts${number}`];
    for (const place of places) {
      const verdict = verdicts[place];
      if (verdict === absent) continue;
      totals[number][verdict] += 1;
      const version = columns.version[place];
      if (taken[version][1]) heat[rowOf(version)][number][verdict] += 1;
    }
  });
  return { totals, heat, cases: places.length };
}

const millionths = (part, whole) => (whole ? Math.floor((part * 1e6) / whole) : 0);

/** The step of the scale, as scores.py finds it. */
function gradeOf(counts) {
  const { total, passed, specified, attempted } = rates(counts);
  const byName = (name) => front.index.grades.find(([grade]) => grade === name);
  if (!total) return byName("absent");
  if (!specified) return byName("open");
  if (!attempted) return byName("out");
  const tenths = Math.floor((passed * 1000) / specified);
  if (passed && !tenths) return byName("few");
  return front.index.grades.find(([, , , least]) => least >= 0 && tenths >= least);
}

const SVG = "http://www.w3.org/2000/svg";

function barOf(shares) {
  const bar = document.createElementNS(SVG, "svg");
  bar.setAttribute("class", "bar");
  bar.setAttribute("aria-hidden", "true");
  for (const [family, first, width] of shares) {
    const part = document.createElementNS(SVG, "rect");
    const attributes = { class: `f-${family}`, x: `${first / 10}%`, width: `${width / 10}%`, height: "100%" };
    for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, value);
    bar.append(part);
  }
  return bar;
}

function rateCells(counts) {
  const { passed, specified, attempted } = rates(counts);
  const scored = counts.map((number, verdict) => (["unspecified", "lenient", "knows_less"].includes(data.styles[verdict].name) ? 0 : number));
  const of = (name) => counts[data.number[name]];
  const share = attempted ? Math.floor((passed * 1000) / attempted) : 0;
  return [
    element("td", { class: "rate", "data-label": "passed of specified" }, barOf(sharesOf(scored)), element("b", {}, rate(passed, specified)), " ", element("small", {}, `${count(passed)} of ${count(specified)}`)),
    element("td", { class: "rate", "data-label": "passed of attempted" }, barOf([["track", 0, 1000], ["pass", 0, share]]), element("b", {}, rate(passed, attempted)), " ", element("small", {}, `of ${count(attempted)}`)),
    element("td", { class: "figure", "data-label": "opted out" }, count(of("unsupported"))),
    element("td", { class: "figure", "data-label": "crashes" }, of("crash") ? element("span", { class: "badge b-crash" }, count(of("crash"))) : "0"),
  ];
}

function kindCells(number, taken, filter) {
  const byKind = new Map();
  const shown = new Set(front.index.versions.filter((_, at) => taken[at][0]).map(([operator, since]) => `${operator}/${since}`));
  const operators = new Set(front.index.versions.filter((_, at) => taken[at][0]).map(([operator]) => operator));
  for (const [runtime, kind, operator, versions, types] of front.index.findings) {
    if (runtime !== number || !operators.has(operator)) continue;
    if (versions.length && !versions.some((since) => shown.has(`${operator}/${since}`))) continue;
    if (filter.type && types.length && !types.includes(filter.type)) continue;
    byKind.set(kind, (byKind.get(kind) ?? 0) + 1);
  }
  const badges = [...byKind].sort(([a], [b]) => a - b).map(([kind, times]) => {
    const style = data.styles[data.number[front.index.kinds[kind]]];
    return [element("span", { class: `badge b-${style.family}`, title: `${times} ${style.words}` }, `${style.letter} ${times}`), " "];
  });
  return element("td", { class: "kinds", "data-label": "findings" }, badges.length ? badges : element("span", { class: "dim", title: "no finding of it is in the list" }, "-"));
}

function heatCell(counts) {
  const [name, sign, words] = gradeOf(counts);
  const { passed, specified, attempted } = rates(counts);
  const crashes = counts[data.number.crash];
  const plain = (text) => text.replace(" %", "");
  return element(
    "td",
    { class: `g-${name}`, title: sentenceOf(counts) },
    element("b", {}, attempted ? plain(rate(passed, specified)) : sign),
    crashes ? element("i", { class: "badge b-crash", title: `${cases(crashes)} crashed` }, "C") : "",
    element("small", {}, attempted ? plain(rate(passed, attempted)) : words),
  );
}

/** Show a value in a field; an address may have one that is no choice there. */
function show(input, value) {
  if (input.options && ![...input.options].some((option) => option.value === value)) input.append(element("option", { value }, value));
  input.value = value;
}

/** Show ranking and heat map of what a filter leaves; without one, as they came. */
async function filterShow() {
  const filter = filterOf(location.hash);
  for (const name of FIELDS) {
    const input = byId(`f-${name}`);
    if (input !== document.activeElement) show(input, filter[name] ?? "");
    input.classList.toggle("set", Boolean(filter[name]));
  }
  const [ranks, heat] = [byId("ranks").tBodies[0], byId("heat").tBodies[0]];
  front.home ??= { ranks: [...ranks.rows].map((row) => row.cloneNode(true)), heat: [...heat.rows].map((row) => row.cloneNode(true)), chosen: byId("chosen").textContent };
  const byOperator = Boolean(filter.ops);
  byId("heat-by").textContent = byOperator ? "operator" : "family";
  byId("heat-rows").textContent = byOperator ? "Operator" : "Family";
  if (!isSet(filter)) {
    ranks.replaceChildren(...front.home.ranks.map((row) => row.cloneNode(true)));
    heat.replaceChildren(...front.home.heat.map((row) => row.cloneNode(true)));
    byId("chosen").textContent = front.home.chosen;
    return;
  }
  if (!front.index) {
    const [index, numbers] = await Promise.all([jsonData("front"), packedData("numbers").then(unpacked)]);
    Object.assign(front, { index, numbers });
    use({ ...index, operators: Object.fromEntries(index.operators.map(([name, slug]) => [name, slug])) });
    data.least = 30;
  }
  const { chosen, unknown } = operatorsOf(filter.ops ?? "");
  const taken = versionsTaken(filter, chosen);
  const { operators, families, versions, runtimes } = front.index;
  const rowOf = byOperator ? (version) => versions[version][0] : (version) => operators[versions[version][0]][2];
  const { totals, heat: cells, cases: number } = countsOf(filter, taken, rowOf, byOperator ? operators.length : families.length);
  const order = runtimes.map((_, place) => place).sort((a, b) => {
    const [one, other] = [rates(totals[a]), rates(totals[b])];
    return (
      millionths(other.passed, other.specified) - millionths(one.passed, one.specified) ||
      millionths(other.passed, other.attempted) - millionths(one.passed, one.attempted) ||
      totals[a][data.number.crash] - totals[b][data.number.crash] ||
      a - b
    );
  });
  ranks.replaceChildren(
    ...order.map((place, at) => {
      const row = front.home.ranks[place].cloneNode(true);
      const kinds = row.querySelector(".kinds");
      row.cells[0].textContent = String(at + 1);
      row.querySelector(".good")?.remove();
      row.replaceChildren(row.cells[0], row.cells[1], ...rateCells(totals[place]), ...(kinds ? [kindCells(place, taken, filter)] : []));
      return row;
    }),
  );
  const names = byOperator ? operators.map(([name, slug]) => anchor(`operator/${slug}.html`, {}, shortName(name))) : families.map((family) => anchor(`operators.html#${encode(family)}`, {}, family));
  heat.replaceChildren(
    ...cells.flatMap((row, at) => {
      const there = byOperator ? chosen.has(at) : row.some((counts) => counts.some(Boolean));
      return there ? [element("tr", {}, element("th", { scope: "row" }, names[at]), row.map(heatCell))] : [];
    }),
  );
  const lacking = unknown.length ? ` Not in this suite: ${unknown.join(", ")}.` : "";
  byId("chosen").textContent = `${number ? cases(number) : "No case"} of those that all ranked runtimes have.${lacking}`;
}

function change(filter) {
  const hash = hashOf(filter);
  history.replaceState(null, "", hash === "#" ? location.pathname + location.search : hash);
  filterShow().catch(fail);
}

async function modelRead(file) {
  try {
    const { operators, opsets } = operatorsOfModel(new Uint8Array(await file.arrayBuffer()));
    const opset = opsets.get("ai.onnx");
    const filter = { ops: operators.map(shortName).join(","), domains: {}, type: byId("f-type").value };
    if (opset) Object.assign(filter, { from: String(opset), to: String(opset) });
    for (const [domain, version] of opsets) if (domain !== "ai.onnx") filter.domains[domain] = version;
    byId("f-ops").blur();
    change(filter);
  } catch (error) {
    byId("chosen").textContent = `${file.name} cannot be read as an ONNX model: ${error.message}.`;
  }
}

function frontBegin() {
  const form = byId("narrow");
  if (!form) return;
  const fold = byId("fold");
  fold.addEventListener("click", () => {
    const open = form.classList.toggle("open");
    fold.setAttribute("aria-expanded", String(open));
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    if (event.target.id === "f-model") return;
    const filter = filterOf(location.hash);
    for (const name of FIELDS) filter[name] = byId(`f-${name}`).value.trim();
    change(filter);
  });
  byId("f-model").addEventListener("change", (event) => {
    const [file] = event.target.files;
    if (file) modelRead(file);
  });
  form.addEventListener("reset", () => setTimeout(() => change({ domains: {} })));
  window.addEventListener("hashchange", () => filterShow().catch(fail));
  if (isSet(filterOf(location.hash))) filterShow().catch(fail);
}

// The operators of a model file: as much of protobuf as it takes to find nodes, subgraphs, functions and opsets.

/** The fields of a message: [number, value]; a value is a number, or the bytes of a text or message. */
function* fieldsOf(bytes) {
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; shift < 10; shift += 1) {
      if (at >= bytes.length) throw new Error("it ends within a number");
      const byte = bytes[at++];
      value += (byte & 127) * 2 ** (7 * shift);
      if (byte < 128) return value;
    }
    throw new Error("a number has too many bytes");
  };
  const skip = (length) => {
    if (length > bytes.length - at) throw new Error("it ends within a field");
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const key = varint();
    const kind = key % 8;
    const number = Math.floor(key / 8);
    if (!number) throw new Error("a field has no number");
    if (kind === 0) yield [number, varint()];
    else if (kind === 1) yield [number, skip(8)];
    else if (kind === 2) yield [number, skip(varint())];
    else if (kind === 5) yield [number, skip(4)];
    else throw new Error(`wire type ${kind} is not of this format`);
  }
}

const textOf = (bytes) => new TextDecoder().decode(bytes);
const FIELD = {
  model: { graph: 7, opset: 8, function: 25 },
  graph: { node: 1 },
  node: { type: 4, attribute: 5, domain: 7 },
  attribute: { graph: 6, graphs: 11 },
  function: { name: 1, node: 7, opset: 9, domain: 10 },
  opset: { domain: 1, version: 2 },
};
const MOST_DEPTH = 64;

function nodesOf(bytes, field, uses, depth = 0) {
  if (depth > MOST_DEPTH) throw new Error("its graphs are nested too deep");
  for (const [number, node] of fieldsOf(bytes)) {
    if (number !== field || !(node instanceof Uint8Array)) continue;
    let [domain, type] = ["", ""];
    for (const [part, value] of fieldsOf(node)) {
      if (part === FIELD.node.type) type = textOf(value);
      else if (part === FIELD.node.domain) domain = textOf(value);
      else if (part === FIELD.node.attribute) {
        for (const [inner, graph] of fieldsOf(value)) {
          if (inner === FIELD.attribute.graph || inner === FIELD.attribute.graphs) nodesOf(graph, FIELD.graph.node, uses, depth + 1);
        }
      }
    }
    uses.add(`${domain || "ai.onnx"}/${type}`);
  }
}

function opsetOf(bytes, opsets) {
  let [domain, version] = ["", 0];
  for (const [number, value] of fieldsOf(bytes)) {
    if (number === FIELD.opset.domain) domain = textOf(value);
    else if (number === FIELD.opset.version) version = value;
  }
  opsets.set(domain || "ai.onnx", version);
}

/** The operators that a serialized ModelProto uses, and its opsets by domain; an Error says why it is no model. */
function operatorsOfModel(bytes) {
  const uses = new Set();
  const own = new Set();
  const opsets = new Map();
  for (const [number, value] of fieldsOf(bytes)) {
    if (!(value instanceof Uint8Array)) continue;
    if (number === FIELD.model.graph) nodesOf(value, FIELD.graph.node, uses);
    else if (number === FIELD.model.opset) opsetOf(value, opsets);
    else if (number === FIELD.model.function) {
      let [domain, name] = ["", ""];
      for (const [part, text] of fieldsOf(value)) {
        if (part === FIELD.function.name) name = textOf(text);
        else if (part === FIELD.function.domain) domain = textOf(text);
      }
      own.add(`${domain || "ai.onnx"}/${name}`);
      nodesOf(value, FIELD.function.node, uses);
    }
  }
  if (!opsets.size || !uses.size) throw new Error("it has no opset or no nodes");
  return { operators: [...uses].filter((name) => !own.has(name)).sort(), opsets };
}

// The page of an operator: its sentences, each with its cases and a letter for every runtime's verdict.

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

// The page of a case, which its address names.

let details = [];
let caseTurn = 0;

const messageOf = (place, column) => details[column]?.message ?? "";

/** A link to the page of an operator version's operator. */
function operatorLink(operator) {
  const name = operator.replace(/\/[^/]*$/, "");
  return operatorPage(name, operator || "unknown operator");
}

/** The operator whose data has a case; the ids of other suites do not name it. */
async function ownerOf(id) {
  const operator = operatorOf(id);
  if (operator) return operator;
  const { operators } = await jsonData("search");
  return operators.find(([, , ids]) => ids.includes(id))?.[0] ?? "";
}

/** Give the page of a case the data of its operator. */
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
  data.operators = own.operators; // The names of operator versions, as the page of a case reads them.
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

// The page of a finding, which its address names, and the list of all findings.

const STATES = { open: "open", fixed: "fixed", back: "came back" };
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
    list("failing cases share", it.conditions),
    list(it.guilty?.length > 1 ? "guilty together" : "guilty pass", it.guilty),
    list("fails in", it.since?.failing),
    list("passes in", it.since?.passing),
    ["shown by", cases(it.count ?? 0)],
    it.confirmed && ["confirmed", [it.confirmed.date, it.confirmed.version && `on ${it.confirmed.version}`, it.confirmed.exit !== undefined && `exit status ${it.confirmed.exit}`, it.confirmed.said].filter(Boolean).join(", ")],
    it.issue && ["issue", outward(it.issue, it.issue)],
  ].filter(Boolean);
}

/** A link to a case; a minimized one may have no page. */
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
        it.expected ? rows(it.expected) : element("p", { class: "dim" }, "a refusal"),
        element("h3", {}, `${it.backend} gives`),
        it.made ? element("pre", { class: "made", tabindex: "0" }, it.made) : "",
        it.made && it.given ? element("p", { class: "dim" }, "which means, by the text,") : "",
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
  return element("section", {}, element("h2", {}, "Script"), element("div", { class: "copy" }, copier("Copy script", () => it.script), download, element("span", { class: "dim" }, "one Python file, which does not need this project")), element("pre", { class: "script", tabindex: "0" }, it.script));
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
      element("p", { class: "facts" }, kindBadge(it.kind), " ", column ? anchor(column.page, {}, runtime) : runtime, ` · ${STATES[it.state] ?? it.state}`, it.apart ? ` · apart, not counted: ${it.why}` : ""),
      it.clause ? element("blockquote", {}, quoted(it.clause)) : "",
      it.clause && (binds || it.link) ? element("p", { class: "note" }, binds ? `It breaks ${binds}. ` : "", it.link ? outward(it.link, "The text at onnx.ai") : "") : "",
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

/** The list of findings; "#runtime=tract&kind=crash&state=open" chooses some. */
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
    status.textContent = `${count(fitting.length)} of ${count(findings.length)} findings, the gravest kind first. Those marked apart break a “should”, a reading or a reworded sentence only, and are not counted.`;
    list.replaceChildren(
      ...fitting.slice(0, most).map(([id, title, kind, operator, runtime, state, number, apart]) =>
        element("li", {}, kindBadge(kind), " ", findingLink(id, title), " ", element("span", { class: "dim" }, `${runtime} · ${shortName(operator)} · ${cases(number)}${state === "open" ? "" : ` · ${STATES[state] ?? state}`}${apart ? " · apart" : ""}`)),
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

// Starts what the page has.

const PAGES = { front: frontBegin, operator: operatorBegin, case: caseBegin, finding: findingBegin, findings: findingsBegin };

function fail(error) {
  byId("failed")?.remove();
  byId("main").prepend(element("p", { class: "cut", role: "alert", id: "failed" }, `The data could not be read: ${error.message}.`));
  console.error(error);
}

async function begin() {
  themeBegin();
  searchBegin();
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
  });
  await PAGES[here.page]?.();
  here.state = "ready";
}

begin().catch(fail);

})();
