// SPDX-License-Identifier: Apache-2.0
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

/** The numbers of the operators in a list of names, and the names that are not in this suite. */
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

/** By operator version, whether it matches the filter, and whether the heat map shows it: with an opset, all matches. */
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

/** Counts by verdict: the total of each runtime, and by row of the heat map. */
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

/** A rate that is 0 % only if nothing passes, or counts if there are few cases; scores.py does the same. */
function shareOf(part, whole) {
  if (whole && whole < FEW_CASES) return `${part}/${whole}`;
  return part && part * 1000 < whole ? "< 0.1 %" : rate(part, whole);
}

/** The counts of a rate; nothing if the rate already shows them. */
const countsBeside = (whole, text) => (whole && whole < FEW_CASES ? "" : element("small", {}, text));

const millionths = (part, whole) => (whole ? Math.floor((part * 1e6) / whole) : 0);

/** The step of the scale; scores.py does the same. */
function gradeOf(counts) {
  const { total, passed, specified, attempted } = rates(counts);
  const byName = (name) => front.index.grades.find(([grade]) => grade === name);
  if (!total) return byName("absent");
  if (!specified) return byName("open");
  if (!attempted) return byName(counts[data.number.adapter_error] ? "broken" : "out");
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
    element("td", { class: "rate", "data-label": "passed of specified" }, barOf(sharesOf(scored)), element("b", {}, shareOf(passed, specified)), " ", countsBeside(specified, `${count(passed)} of ${count(specified)}`)),
    element("td", { class: "rate", "data-label": "passed of attempted" }, barOf([["track", 0, 1000], ["pass", 0, share]]), element("b", {}, shareOf(passed, attempted)), " ", countsBeside(attempted, `of ${count(attempted)}`)),
    element("td", { class: "figure", "data-label": "unsupported" }, count(of("unsupported"))),
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
  return element("td", { class: "kinds", "data-label": "findings" }, badges.length ? badges : element("span", { class: "dim", title: "no findings in the list" }, "-"));
}

function heatCell(counts) {
  const [name, sign, words] = gradeOf(counts);
  const { passed, specified, attempted } = rates(counts);
  const crashes = counts[data.number.crash];
  const plain = (text) => text.replace(" %", "");
  return element(
    "td",
    { class: `g-${name}`, title: sentenceOf(counts) },
    element("b", {}, attempted ? plain(shareOf(passed, specified)) : sign),
    crashes ? element("i", { class: "badge b-crash", title: `${cases(crashes)} crashed` }, "C") : "",
    element("small", {}, attempted ? plain(shareOf(passed, attempted)) : words),
  );
}

/** Show a value in a field; an address may contain one that is not an option. */
function show(input, value) {
  if (input.options && ![...input.options].some((option) => option.value === value)) input.append(element("option", { value }, value));
  input.value = value;
}

/** Show ranking and heat map for the filtered cases; without a filter, the original ones. */
async function filterShow() {
  const filter = filterOf(location.hash);
  for (const name of FIELDS) {
    const input = byId(`f-${name}`);
    if (input !== document.activeElement) show(input, filter[name] ?? "");
    input.classList.toggle("set", Boolean(filter[name]));
  }
  const [ranks, compared, heat] = ["ranks", "compared", "heat"].map((id) => byId(id)?.tBodies[0]);
  const copied = (body) => [...(body?.rows ?? [])].map((row) => row.cloneNode(true));
  front.home ??= { ranks: copied(ranks), compared: copied(compared), heat: copied(heat), chosen: byId("chosen").textContent };
  const byOperator = Boolean(filter.ops);
  byId("heat-by").textContent = byOperator ? "operator" : "family";
  byId("heat-rows").textContent = byOperator ? "Operator" : "Family";
  if (!isSet(filter)) {
    ranks?.replaceChildren(...front.home.ranks.map((row) => row.cloneNode(true)));
    compared?.replaceChildren(...front.home.compared.map((row) => row.cloneNode(true)));
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
  const { ranked } = front.index;
  const order = runtimes.map((_, place) => place).slice(0, ranked).sort((a, b) => {
    const [one, other] = [rates(totals[a]), rates(totals[b])];
    return (
      millionths(other.passed, other.specified) - millionths(one.passed, one.specified) ||
      millionths(other.passed, other.attempted) - millionths(one.passed, one.attempted) ||
      totals[a][data.number.crash] - totals[b][data.number.crash] ||
      a - b
    );
  });
  const rowAt = (original, place, rank) => {
    const row = original.cloneNode(true);
    const kinds = row.querySelector(".kinds");
    row.cells[0].textContent = rank;
    row.querySelector(".good")?.remove();
    row.replaceChildren(row.cells[0], row.cells[1], ...rateCells(totals[place]), ...(kinds ? [kindCells(place, taken, filter)] : []));
    return row;
  };
  ranks?.replaceChildren(...order.map((place, at) => rowAt(front.home.ranks[place], place, String(at + 1))));
  compared?.replaceChildren(...front.home.compared.map((row, at) => rowAt(row, ranked + at, "")));
  const names = byOperator ? operators.map(([name, slug]) => anchor(`operator/${slug}.html`, {}, shortName(name))) : families.map((family) => anchor(`operators.html#${encode(family)}`, {}, family));
  heat.replaceChildren(
    ...cells.flatMap((row, at) => {
      const there = byOperator ? chosen.has(at) : row.some((counts) => counts.some(Boolean));
      return there ? [element("tr", {}, element("th", { scope: "row" }, names[at]), row.map(heatCell))] : [];
    }),
  );
  const lacking = unknown.length ? ` Not in this suite: ${unknown.join(", ")}.` : "";
  byId("chosen").textContent = `${number ? cases(number) : "No case"} of the common cases of all ranked runtimes.${lacking}`;
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
