// SPDX-License-Identifier: Apache-2.0
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

const FEW_CASES = 10;

/** Rounded down, with one decimal; only counts if there are few cases; "no data" instead of 0 % if there are none. */
function rate(part, whole) {
  if (!whole) return "no data";
  if (whole < FEW_CASES) return `${part} of ${whole}`;
  const tenths = Math.floor((part * 1000) / whole);
  return `${Math.floor(tenths / 10)}.${tenths % 10} %`;
}

/** Counts with a rate: 19/20 95.0 %; only the counts if there are few cases. */
const countedRate = (part, whole) =>
  `${count(part)}/${count(whole)}${whole && whole < FEW_CASES ? "" : ` ${rate(part, whole)}`}`;

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
    const done = document.execCommand("copy"); // If the page may not use the clipboard API.
    area.remove();
    return done;
  }
}

/** A button that copies the result of `make`, and its status. */
function copier(label, make) {
  const button = element("button", { type: "button" }, label);
  const status = element("span", { role: "status", class: "dim" });
  button.addEventListener("click", async () => {
    status.textContent = (await copy(make())) ? "copied" : "the browser does not allow copying; select the text";
  });
  return [button, status];
}
