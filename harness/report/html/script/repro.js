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
  const checks = (described.checks ?? []).map((name) => data.pieces.checks[name]).join("");
  const hang = verdict === "timeout" ? data.pieces.hang : "";
  return `${head}${hang}${described.before}${call}${data.pieces.got}${described.after ?? ""}${checks}`;
}

const shellQuoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);

function commandOf(place, column) {
  const { backend, suite } = data.columns[column];
  const words = ["onnx-conformance", "repro", data.ids[place], "--backend", backend];
  if (suite !== "generated" && suite !== "official") words.push("--suite", suite);
  return words.map(shellQuoted).join(" ");
}
