// SPDX-License-Identifier: Apache-2.0
// The data: gzip blocks in base64, unpacked when they are needed.

const blockText = (id) => document.getElementById(id).textContent;

const unpack = (id) => unpacked(blockText(id));
const unpackJson = async (id) => jsonOf(await unpack(id));

/** The data of filters and lists; the data of single cases stays packed until it is shown. */
const data = { ready: false, messageTexts: null };

async function load() {
  const [index, numbers] = await Promise.all([unpackJson("index0"), unpack("numbers0")]);
  Object.assign(data, index);
  const columns = {};
  for (const [name, kind, first, length] of index.layout) {
    columns[name] = new KINDS[kind](numbers, first, length);
  }
  data.by = columns;
  data.count = index.ids.length;
  data.verdicts = index.columns.map((_, place) => columns["verdicts" + place]);
  data.messages = index.columns.map((_, place) => columns["messages" + place]);
  data.versions = data.operators.map((name) => name.slice(name.lastIndexOf("/") + 1));
  data.number = Object.fromEntries(index.styles.map((style, number) => [style.name, number]));
  data.ready = true;
}

let messagesLoading = null;

/** Every message of a runtime, once, and in lower case for the text filter. */
function loadMessages() {
  messagesLoading ??= unpackJson("messages0").then((texts) => {
    data.messageTexts = texts;
    data.messageTextsLower = texts.map((text) => text.toLowerCase());
    data.idsLower = data.ids.map((text) => text.toLowerCase());
  });
  return messagesLoading;
}

const recent = new Map();

/** A block for pages of cases; the last few are cached. */
async function block(id) {
  if (!recent.has(id)) {
    if (recent.size >= 16) recent.delete(recent.keys().next().value);
    recent.set(id, unpackJson(id));
  }
  return recent.get(id);
}

/** The details of each backend's result of a case: one object a column, with its texts. */
async function detailsOf(place) {
  const { texts, rows } = await block("details" + Math.floor(place / data.size));
  const textOf = (key, value) => (typeof value === "number" && key !== "time" ? texts[value] : value);
  return rows[place % data.size].map((row) =>
    Object.fromEntries(Object.entries(row).map(([key, value]) => [key, textOf(key, value)])),
  );
}

/** Model, inputs and the rest of a case; null if the report was generated without them. */
async function describedOf(place) {
  const where = data.by.described[place];
  if (where < 0) return null;
  return (await block("described" + Math.floor(where / data.size)))[where % data.size];
}

let places = null;

function placeOf(id) {
  places ??= new Map(data.ids.map((name, place) => [name, place]));
  return places.get(id) ?? -1;
}
