// SPDX-License-Identifier: Apache-2.0
// The script that reproduces a mismatch without the harness, the same as that of harness/onnx_conformance/repro/script.py.

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
  const call = described.mayRefuse ? data.pieces.refusal.replace("{call}", () => indented) : `${code}\n`;
  const hang = verdict === "timeout" ? data.pieces.hang : "";
  return `${head}${hang}${described.before}${call}${afterCall(backend.subject, described)}`;
}

/** The code from the call to the end, the same as that of `after` in harness/onnx_conformance/repro/script.py. */
function afterCall(subject, described) {
  const settings = described.after ?? "";
  const names = described.checks ?? [];
  const checks = names.map((name) => data.pieces.checks[name]).join("");
  if (subject === "runtime") return data.pieces.got + settings + checks;
  if (described.mayRefuse) return settings;
  const tool = data.pieces.tools[subject];
  if (tool.whole) return settings + tool.before;
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
