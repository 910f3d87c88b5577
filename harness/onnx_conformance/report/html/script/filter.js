// SPDX-License-Identifier: Apache-2.0
// The filter: the state in the address, and the cases that match it.

const FIELDS = ["q", "op", "version", "type", "form", "tag", "verdict", "on", "clause", "change", "group"];
const CHANGES = ["broke", "fixed", "changed", "came", "went"];

let state = { view: "matrix", id: "" };

const encode = (text) => encodeURIComponent(text).replaceAll("%2F", "/").replaceAll("%40", "@").replaceAll("%2A", "*");

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // Not an address of this page; shown unchanged.
  }
}

/** Parse "#/cases?op=Split&verdict=crash" into a state; "#/op/ai.onnx/Split/18" also names an operator. */
function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [view, ...rest] = path.split("/");
  const parsed = { view: view || "matrix", id: decode(rest.join("/")) };
  for (const part of query.split("&")) {
    const [key, value = ""] = part.split(/=(.*)/s);
    if (FIELDS.includes(key) && value) parsed[key] = decode(value);
  }
  if (parsed.view === "op") {
    parsed.view = "cases";
    parsed.op = parsed.id;
    parsed.id = "";
  }
  if (!["matrix", "cases", "case", "groups", "changes"].includes(parsed.view)) parsed.view = "matrix";
  return parsed;
}

function addressOf(it) {
  const query = FIELDS.filter((key) => it[key]).map((key) => `${key}=${encode(it[key])}`);
  const path = it.view === "matrix" ? "" : it.view === "case" ? `case/${encode(it.id)}` : it.view;
  return `#/${path}${query.length ? `?${query.join("&")}` : ""}`;
}

const LOCAL = /^#\//;

/** A link inside this page; any other address is a programming error. */
function link(href, attributes, ...children) {
  if (!LOCAL.test(href)) throw new Error("a link leads out of the page");
  return element("a", { href, ...attributes }, ...children);
}

const escaped = (text) => text.replace(/[.+?^${}()|[\]\\]/g, "\\$&");

/** Which operator versions a text matches: a whole id or name, a glob, or a part of one. */
function operatorTest(text) {
  const words = text.trim().toLowerCase();
  const names = data.operators.map((name) => name.toLowerCase());
  const forms = (name) => {
    const [domain, operator, version] = [name.split("/")[0], name.split("/")[1] ?? name, name.split("/")[2] ?? ""];
    return [name, operator, `${domain}/${operator}`, `${operator}/${version}`];
  };
  if (words.includes("*")) {
    const glob = new RegExp(`^${escaped(words).replaceAll("*", ".*")}$`, "s");
    return names.map((name) => forms(name).some((form) => glob.test(form)));
  }
  const whole = names.map((name) => forms(name).includes(words));
  return whole.some(Boolean) ? whole : names.map((name) => name.includes(words));
}

/** How the verdict of a case changed from one column to another; report/comparison.py does the same for two runs. */
function changeOf(before, after) {
  if (before === data.absent && after === data.absent) return "";
  if (before === data.absent) return "came";
  if (after === data.absent) return "went";
  if (before === after) return "same";
  if (after === data.number.pass) return "fixed";
  return before === data.number.pass ? "broke" : "changed";
}

const named = (names, test) => Uint8Array.from(names, (name, number) => (test(name, number) ? 1 : 0));

/** One condition for each field that is set; each takes the place of a case. */
function conditionsOf(it) {
  const { by } = data;
  const conditions = [];
  const lookUp = (column, allowed) => conditions.push((place) => allowed[column[place]] === 1);
  if (it.op || it.version) {
    const fits = it.op ? operatorTest(it.op) : data.operators.map(() => true);
    lookUp(by.operator, named(data.operators, (_, n) => fits[n] && (!it.version || data.versions[n] === it.version)));
  }
  if (it.type) lookUp(by.type, named(data.types, (name) => name === (it.type === "none" ? "" : it.type)));
  if (it.form) lookUp(by.form, named(data.forms, (name) => name === it.form));
  if (it.tag) {
    const tag = data.tags.indexOf(it.tag);
    lookUp(by.tags, named(data.tagSets, (set) => set.includes(tag)));
  }
  if (it.clause) {
    const words = it.clause.trim().toLowerCase();
    const has = named(data.clauses, (text) => text.toLowerCase().includes(words));
    lookUp(by.clauses, named(data.clauseSets, (set) => set.some((number) => has[number])));
  }
  if (it.verdict || it.on) conditions.push(verdictTest(it));
  if (it.change) {
    const changes = it.change === "any" ? CHANGES : [it.change];
    conditions.push((place) =>
      data.pairs.some(([a, b]) => changes.includes(changeOf(data.verdicts[a][place], data.verdicts[b][place]))),
    );
  }
  if (it.group) {
    const members = new Set(data.groups[it.group]?.cases ?? []);
    conditions.push((place) => members.has(place));
  }
  if (it.q && data.messageTexts) conditions.push(textTest(it.q.trim().toLowerCase()));
  return conditions;
}

function verdictTest({ verdict, on }) {
  const column = data.columns.findIndex(({ label }) => label === on);
  const columns = on ? (column < 0 ? [] : [data.verdicts[column]]) : data.verdicts;
  if (verdict === "differ") {
    return (place) => {
      let first = -1;
      for (const numbers of data.verdicts) {
        if (numbers[place] === data.absent) continue;
        if (first >= 0 && numbers[place] !== first) return true;
        first = numbers[place];
      }
      return false;
    };
  }
  const allowed = new Uint8Array(256);
  data.styles.forEach((style, number) => {
    allowed[number] = !verdict || style.name === verdict || (verdict === "failed" && style.failed) ? 1 : 0;
  });
  return (place) => columns.some((numbers) => allowed[numbers[place]] === 1);
}

function textTest(words) {
  const messages = named(data.messageTextsLower, (text) => text.includes(words));
  const clauses = named(data.clauses, (text) => text.toLowerCase().includes(words));
  const sets = named(data.clauseSets, (set) => set.some((number) => clauses[number]));
  return (place) =>
    data.idsLower[place].includes(words) ||
    sets[data.by.clauses[place]] === 1 ||
    data.messages.some((numbers) => numbers[place] >= 0 && messages[numbers[place]] === 1);
}

const memory = { key: null, places: null };

/** The places of the cases that match the filter, in order. */
function filtered(it = state) {
  const key = FIELDS.map((field) => it[field] ?? "").join("\n") + (data.messageTexts ? "+" : "");
  if (memory.key === key) return memory.places;
  const conditions = conditionsOf(it);
  const places = new Int32Array(data.count);
  let length = 0;
  for (let place = 0; place < data.count; place += 1) {
    let fits = true;
    for (let n = 0; fits && n < conditions.length; n += 1) fits = conditions[n](place);
    if (fits) places[length++] = place;
  }
  memory.key = key;
  memory.places = places.subarray(0, length);
  return memory.places;
}

/** How often each verdict occurs among some cases, by operator and column: counts[(op * columns + column) * styles + n]. */
function countsOf(places) {
  const columns = data.columns.length;
  const kinds = data.styles.length;
  const { absent, by: { operator } } = data;
  const counts = new Int32Array(data.operators.length * columns * kinds);
  for (let column = 0; column < columns; column += 1) {
    const numbers = data.verdicts[column];
    for (let n = 0; n < places.length; n += 1) {
      const verdict = numbers[places[n]];
      if (verdict !== absent) counts[(operator[places[n]] * columns + column) * kinds + verdict] += 1;
    }
  }
  return counts;
}
