// SPDX-License-Identifier: Apache-2.0
// The data: each file calls a function with one block. The files are scripts, because a page from disk may load those.

const here = document.documentElement.dataset;
const waiting = new Map();

window.onnxConformance = (name, text) => waiting.get(name)?.(text);

const DATA_FILE = /^(\.\.\/)?data\/[\w-][\w.-]*(\/[\w-][\w.-]*)?\.js\?[0-9a-f]*$/;
const trusted = (address) => {
  if (!DATA_FILE.test(address)) throw new Error(`${address} is not a data file of this site`);
  return address;
};
const loader = window.trustedTypes?.createPolicy("data-files", { createScriptURL: trusted }) ?? { createScriptURL: trusted };
const loading = new Map();

/** The packed block of a data file. */
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

/** The data of badges, rates and the page of a case: styles of verdicts, columns, and the cases of one operator. */
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
    return text; // Not an address of this site; shown unchanged.
  }
}

const encode = (text) => encodeURIComponent(text).replaceAll("%2F", "/").replaceAll("%40", "@");
const named = () => decode(location.hash.slice(1));

const PAGE = /^(index|operators|findings|finding|case|operator\/[\w.-]+|runtime\/[\w.-]+|tool\/[\w.-]+)\.html(#.*)?$/s;

/** A link to a page of this site. */
function anchor(page, attributes, ...children) {
  if (!PAGE.test(page)) throw new Error(`${page} is not a page of this site`);
  return element("a", { href: here.root + page, ...attributes }, ...children);
}

/** A link to another web site; plain text if it is not such an address. */
const outward = (address, ...children) =>
  /^https:\/\/\S+$/.test(address) ? element("a", { href: address, rel: "noreferrer" }, ...children) : element("span", {}, ...children);

const caseLink = (id, ...children) => anchor(`case.html#${encode(id)}`, {}, ...(children.length ? children : [id]));
const findingLink = (id, ...children) => anchor(`finding.html#${encode(id)}`, {}, ...children);
const shortName = (operator) => operator.replace(/^ai\.onnx\//, "");

function operatorPage(operator, ...children) {
  const slug = data.operators?.[operator];
  return slug ? anchor(`operator/${slug}.html`, {}, ...children) : element("span", {}, ...children);
}

/** The operator, without a version, at the start of a case's id; empty if there is none. */
function operatorOf(id) {
  const [domain, name] = id.split("/");
  const operator = `${domain}/${name}`;
  return data.operators[operator] ? operator : "";
}
