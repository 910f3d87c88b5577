// SPDX-License-Identifier: Apache-2.0
// The operators of a model file: a minimal protobuf reader that finds nodes, subgraphs, functions and opsets.

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

/** The operators that a serialized ModelProto uses, and its opsets by domain; an Error contains the reason if it is not a model. */
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
