// The filter: what the address says, and which cases are left.

const FIELDS = ["q", "op", "version", "type", "form", "tag", "verdict", "on", "clause", "change", "group"];
const CHANGES = ["broke", "fixed", "changed", "came", "went"];

let state = { view: "matrix", id: "" };

const encode = (text) => encodeURIComponent(text).replaceAll("%2F", "/").replaceAll("%40", "@").replaceAll("%2A", "*");

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // Not one of ours; shown as it is.
  }
}

/** "#/cases?op=Split&verdict=crash" to a state; "#/op/ai.onnx/Split/18" is one more way to name an operator. */
function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [view, ...rest] = path.split("/");
  const found = { view: view || "matrix", id: decode(rest.join("/")) };
  for (const part of query.split("&")) {
    const [key, value = ""] = part.split(/=(.*)/s);
    if (FIELDS.includes(key) && value) found[key] = decode(value);
  }
  if (found.view === "op") {
    found.view = "cases";
    found.op = found.id;
    found.id = "";
  }
  if (!["matrix", "cases", "case", "groups", "changes"].includes(found.view)) found.view = "matrix";
  return found;
}

function written(it) {
  const query = FIELDS.filter((key) => it[key]).map((key) => `${key}=${encode(it[key])}`);
  const path = it.view === "matrix" ? "" : it.view === "case" ? `case/${encode(it.id)}` : it.view;
  return `#/${path}${query.length ? `?${query.join("&")}` : ""}`;
}

const escaped = (text) => text.replace(/[.+?^${}()|[\]\\]/g, "\\$&");

/** Which operator versions a text means: an id or a name as a whole, a glob, or a part. */
function operatorTest(text) {
  const wanted = text.trim().toLowerCase();
  const names = data.operators.map((name) => name.toLowerCase());
  const forms = (name) => {
    const [domain, operator, version] = [name.split("/")[0], name.split("/")[1] ?? name, name.split("/")[2] ?? ""];
    return [name, operator, `${domain}/${operator}`, `${operator}/${version}`];
  };
  if (wanted.includes("*")) {
    const glob = new RegExp(`^${escaped(wanted).replaceAll("*", ".*")}$`, "s");
    return names.map((name) => forms(name).some((form) => glob.test(form)));
  }
  const whole = names.map((name) => forms(name).includes(wanted));
  return whole.some(Boolean) ? whole : names.map((name) => name.includes(wanted));
}

/** What became of a case from one column to another; report/comparison.py says the same of two runs. */
function changeOf(before, after) {
  if (before === data.absent && after === data.absent) return "";
  if (before === data.absent) return "came";
  if (after === data.absent) return "went";
  if (before === after) return "same";
  if (after === data.number.pass) return "fixed";
  return before === data.number.pass ? "broke" : "changed";
}

const named = (names, test) => Uint8Array.from(names, (name, number) => (test(name, number) ? 1 : 0));

/** One test a field; each takes the place of a case. A field that says nothing has none. */
function tests(it) {
  const { by } = data;
  const found = [];
  const lookUp = (column, allowed) => found.push((place) => allowed[column[place]] === 1);
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
  if (it.verdict || it.on) found.push(verdictTest(it));
  if (it.change) {
    const wanted = it.change === "any" ? CHANGES : [it.change];
    found.push((place) =>
      data.pairs.some(([a, b]) => wanted.includes(changeOf(data.verdicts[a][place], data.verdicts[b][place]))),
    );
  }
  if (it.group) {
    const members = new Set(data.groups[it.group]?.cases ?? []);
    found.push((place) => members.has(place));
  }
  if (it.q && data.said) found.push(textTest(it.q.trim().toLowerCase()));
  return found;
}

function verdictTest({ verdict, on }) {
  const column = data.columns.findIndex(({ label }) => label === on);
  const asked = on ? (column < 0 ? [] : [data.verdicts[column]]) : data.verdicts;
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
  data.looks.forEach((look, number) => {
    allowed[number] = !verdict || look.name === verdict || (verdict === "failed" && look.failed) ? 1 : 0;
  });
  return (place) => asked.some((numbers) => allowed[numbers[place]] === 1);
}

function textTest(words) {
  const said = named(data.saidLower, (text) => text.includes(words));
  const clauses = named(data.clauses, (text) => text.toLowerCase().includes(words));
  const sets = named(data.clauseSets, (set) => set.some((number) => clauses[number]));
  return (place) =>
    data.idsLower[place].includes(words) ||
    sets[data.by.clauses[place]] === 1 ||
    data.messages.some((numbers) => numbers[place] >= 0 && said[numbers[place]] === 1);
}

const memory = { key: null, found: null };

/** The places of the cases that are left, in order. */
function filtered(it = state) {
  const key = FIELDS.map((field) => it[field] ?? "").join("\n") + (data.said ? "+" : "");
  if (memory.key === key) return memory.found;
  const asked = tests(it);
  const found = new Int32Array(data.count);
  let length = 0;
  for (let place = 0; place < data.count; place += 1) {
    let fits = true;
    for (let n = 0; fits && n < asked.length; n += 1) fits = asked[n](place);
    if (fits) found[length++] = place;
  }
  memory.key = key;
  memory.found = found.subarray(0, length);
  return memory.found;
}

/** How often each verdict comes among some cases, by operator and column: counts[(op * columns + column) * looks + n]. */
function countsOf(found) {
  const columns = data.columns.length;
  const kinds = data.looks.length;
  const { absent, by: { operator } } = data;
  const counts = new Int32Array(data.operators.length * columns * kinds);
  for (let column = 0; column < columns; column += 1) {
    const numbers = data.verdicts[column];
    for (let n = 0; n < found.length; n += 1) {
      const verdict = numbers[found[n]];
      if (verdict !== absent) counts[(operator[found[n]] * columns + column) * kinds + verdict] += 1;
    }
  }
  return counts;
}
