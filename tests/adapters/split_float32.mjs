// SPDX-License-Identifier: Apache-2.0
// An adapter that needs nothing but Node.js: a runtime that knows one operator, Split, for float32.
//
// Written from backends/README.md and onnx.proto alone. Run it as `node split_float32.mjs`.

import { Buffer } from "node:buffer";
import process from "node:process";

// Errors: what the runtime says no to, and what it lacks. Any other error ends the process.

class Refused extends Error {}

class Unsupported extends Error {
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}

function ensure(holds, message) {
  if (!holds) throw new Refused(message);
}

// The element types that this runtime handles, and the bits of all, to find one value behind another.

const FLOAT = 1;
const STRING = 8;
const INT64 = 7;
const BITS = {
  1: 32, 2: 8, 3: 8, 4: 16, 5: 16, 6: 32, 7: 64, 9: 8, 10: 16, 11: 64, 12: 32, 13: 64, 14: 64, 15: 128,
  16: 16, 17: 8, 18: 8, 19: 8, 20: 8, 21: 4, 22: 4, 23: 4, 24: 8, 25: 2, 26: 2, 27: 6, 28: 6,
};

const product = (numbers) => numbers.reduce((left, right) => left * right, 1);

// Protobuf: a message is a list of (field number, wire type, value).

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

function varint(bytes, start) {
  let value = 0n;
  for (let at = start, shift = 0n; at < bytes.length && shift < 70n; at += 1, shift += 7n) {
    value |= BigInt(bytes[at] & 0x7f) << shift;
    if (bytes[at] < 0x80) return { value: BigInt.asUintN(64, value), end: at + 1 };
  }
  throw new Refused("the model ends inside a number");
}

function* fields(bytes) {
  for (let at = 0; at < bytes.length; ) {
    const key = varint(bytes, at);
    const [number, wire] = [Number(key.value >> 3n), Number(key.value & 7n)];
    let [from, end] = [key.end, key.end];
    let value;
    if (wire === VARINT) {
      ({ value, end } = varint(bytes, from));
    } else if (wire === FIXED32 || wire === FIXED64) {
      end = from + (wire === FIXED32 ? 4 : 8);
      value = bytes.subarray(from, end);
    } else if (wire === BYTES) {
      const length = varint(bytes, from);
      from = length.end;
      end = from + Number(length.value);
      value = bytes.subarray(from, end);
    } else {
      throw new Refused(`the model has a field of wire type ${wire}`);
    }
    ensure(end <= bytes.length, `the model ends inside field ${number}`);
    yield { number, wire, value };
    at = end;
  }
}

const text = (field) => field.value.toString("utf8");
const signed = (value) => Number(BigInt.asIntN(64, value));

// A repeated number comes one a field, or packed: many in one field.
function numbers(field) {
  if (field.wire === VARINT) return [signed(field.value)];
  const values = [];
  for (let at = 0; at < field.value.length; ) {
    const { value, end } = varint(field.value, at);
    values.push(signed(value));
    at = end;
  }
  return values;
}

// The messages of onnx.proto: for each field number what it adds to the object read.

function read(bytes, blank, table) {
  for (const field of fields(bytes)) table[field.number]?.(blank, field);
  return blank;
}

function opset(bytes) {
  return read(bytes, { domain: "", version: 0 }, {
    1: (it, field) => { it.domain = text(field); },
    2: (it, field) => { it.version = signed(field.value); },
  });
}

function attribute(bytes) {
  return read(bytes, { name: "", type: 0, int: 0, ints: [] }, {
    1: (it, field) => { it.name = text(field); },
    3: (it, field) => { it.int = signed(field.value); },
    8: (it, field) => { it.ints.push(...numbers(field)); },
    20: (it, field) => { it.type = signed(field.value); },
  });
}

function node(bytes) {
  return read(bytes, { inputs: [], outputs: [], operator: "", domain: "", attributes: [] }, {
    1: (it, field) => { it.inputs.push(text(field)); },
    2: (it, field) => { it.outputs.push(text(field)); },
    4: (it, field) => { it.operator = text(field); },
    5: (it, field) => { it.attributes.push(attribute(field.value)); },
    7: (it, field) => { it.domain = text(field); },
  });
}

function initializer(bytes) {
  const tensor = read(bytes, { name: "", type: 0, shape: [], chunks: [], external: false }, {
    1: (it, field) => { it.shape.push(...numbers(field)); },
    2: (it, field) => { it.type = signed(field.value); },
    4: (it, field) => { it.chunks.push(field.value); }, // float_data is little-endian, packed or not
    7: (it, field) => { it.chunks.push(Buffer.from(BigInt64Array.from(numbers(field), BigInt).buffer)); },
    8: (it, field) => { it.name = text(field); },
    9: (it, field) => { it.chunks.push(field.value); },
    14: (it, field) => { it.external = field.value === 1n; },
  });
  if (tensor.external) throw new Unsupported("no external data", `initializer ${tensor.name} is kept in another file`);
  return { ...tensor, data: Buffer.concat(tensor.chunks) };
}

function graph(bytes) {
  return read(bytes, { nodes: [], initializers: [] }, {
    1: (it, field) => { it.nodes.push(node(field.value)); },
    5: (it, field) => { it.initializers.push(initializer(field.value)); },
  });
}

function model(bytes) {
  return read(bytes, { opsets: [], graph: { nodes: [], initializers: [] } }, {
    7: (it, field) => { it.graph = graph(field.value); },
    8: (it, field) => { it.opsets.push(opset(field.value)); },
  });
}

// Split: what each version has, by its since_version.

const ATTRIBUTE_INT = 2;
const ATTRIBUTE_INTS = 7;
const VERSIONS = [
  { since: 2, attributes: { axis: ATTRIBUTE_INT, split: ATTRIBUTE_INTS }, inputs: 1 },
  { since: 11, attributes: { axis: ATTRIBUTE_INT, split: ATTRIBUTE_INTS }, inputs: 1 },
  { since: 13, attributes: { axis: ATTRIBUTE_INT }, inputs: 2 },
  { since: 18, attributes: { axis: ATTRIBUTE_INT, num_outputs: ATTRIBUTE_INT }, inputs: 2 },
];

const ownDomain = (domain) => domain === "" || domain === "ai.onnx";

function versionOf({ opsets }) {
  const imported = opsets.find(({ domain }) => ownDomain(domain));
  ensure(imported, "the model imports no opset of ai.onnx");
  const version = VERSIONS.findLast(({ since }) => since <= imported.version);
  if (!version) throw new Unsupported("older than Split-2", `opset ${imported.version} has Split-1`);
  return version;
}

function theNode({ graph: { nodes } }) {
  if (nodes.length !== 1) throw new Unsupported("one node only", `the model has ${nodes.length} nodes`);
  const [only] = nodes;
  if (only.operator !== "Split" || !ownDomain(only.domain)) {
    throw new Unsupported("no kernel", `operator ${only.domain || "ai.onnx"} ${only.operator}`);
  }
  return only;
}

function attributesOf({ attributes }, version) {
  const values = {};
  for (const { name, type, int, ints } of attributes) {
    const expected = version.attributes[name];
    ensure(expected, `Split-${version.since} has no attribute ${name}`);
    ensure(type === expected, `attribute ${name} has type ${type}, expected ${expected}`);
    values[name] = type === ATTRIBUTE_INT ? int : ints;
  }
  return values;
}

function argumentsOf({ inputs }, version, values) {
  ensure(inputs.length <= version.inputs, `Split-${version.since} takes ${version.inputs} inputs, not ${inputs.length}`);
  const [input, split] = inputs.map((name) => {
    ensure(name === "" || values.has(name), `nothing is called ${name}`);
    return values.get(name);
  });
  ensure(input, "input is missing");
  return { input, split };
}

function axisOf(axis, rank, version) {
  ensure(axis >= 0 || version.since >= 11, `axis ${axis}: Split-${version.since} counts from the front only`);
  ensure(axis >= -rank && axis < rank, `axis ${axis} of a tensor of rank ${rank}`);
  return axis < 0 ? axis + rank : axis;
}

function lengthsFrom({ type, shape, data }) {
  ensure(type === INT64, `split has element type ${type}, expected ${INT64}`);
  ensure(shape.length === 1, `split has shape [${shape}], expected one dimension`);
  return Array.from({ length: shape[0] }, (_, index) => Number(data.readBigInt64LE(8 * index)));
}

function checkedLengths(lengths, count, dim) {
  ensure(lengths.length === count, `${lengths.length} lengths for ${count} outputs`);
  ensure(lengths.every((length) => length >= 0), `lengths [${lengths}] are not all at least 0`);
  const sum = lengths.reduce((left, right) => left + right, 0);
  ensure(sum === dim, `the lengths [${lengths}] add up to ${sum}, the dimension is ${dim}`);
  return lengths;
}

function equal(count, dim) {
  ensure(dim % count === 0, `a dimension of ${dim} cannot be split into ${count} equal parts`);
  return Array(count).fill(dim / count);
}

function lastSmaller(parts, count, dim) {
  ensure(parts > 0, `num_outputs is ${parts}`);
  ensure(count <= parts, `${count} outputs of ${parts} parts`);
  const chunk = Math.ceil(dim / parts);
  const last = dim - chunk * (parts - 1);
  ensure(last >= 0, `a dimension of ${dim} cannot be split into ${parts} parts of which only the last is smaller`);
  // Trailing parts that have no output do not exist.
  return Array.from({ length: count }, (_, index) => (index < parts - 1 ? chunk : last));
}

function lengthsOf(version, { split: listed, num_outputs: parts }, split, count, dim) {
  const lengths = split ? lengthsFrom(split) : listed;
  if (version.since >= 18) {
    ensure((lengths === undefined) !== (parts === undefined), "exactly one of split and num_outputs is expected");
  }
  if (lengths !== undefined) return checkedLengths(lengths, count, dim);
  return parts === undefined ? equal(count, dim) : lastSmaller(parts, count, dim);
}

function cut({ shape, data }, axis, lengths) {
  const inner = 4 * product(shape.slice(axis + 1));
  const outer = product(shape.slice(0, axis));
  const row = inner * shape[axis];
  let start = 0;
  return lengths.map((length) => {
    const rows = Array.from({ length: outer }, (_, index) => {
      const from = index * row + start * inner;
      return data.subarray(from, from + length * inner);
    });
    start += length;
    return { type: FLOAT, shape: shape.with(axis, length), data: Buffer.concat(rows) };
  });
}

function split(graphModel, values) {
  const only = theNode(graphModel);
  const version = versionOf(graphModel);
  const attributes = attributesOf(only, version);
  const { input, split: lengths } = argumentsOf(only, version, values);
  if (input.type !== FLOAT) throw new Unsupported("no kernel", `Split of element type ${input.type}`);
  const count = only.outputs.length;
  ensure(count > 0, "Split has no output");
  const axis = axisOf(attributes.axis ?? 0, input.shape.length, version);
  const parts = cut(input, axis, lengthsOf(version, attributes, lengths, count, input.shape[axis]));
  return new Map(only.outputs.map((name, index) => [name, parts[index]]));
}

// The wire format.

function message(header, buffers = []) {
  const payload = Buffer.concat(buffers);
  return Buffer.concat([Buffer.from(`${JSON.stringify({ ...header, payload: payload.length })}\n`), payload]);
}

function valuesOf(inputs, payload) {
  let at = 0;
  return inputs.map(({ name, value: { kind, type, shape } }) => {
    if (kind !== "tensor" || type === STRING) throw new Unsupported("tensors of numbers only", `input ${name}`);
    const start = at;
    at += Math.ceil((product(shape) * BITS[type]) / 8);
    return [name, { type, shape, data: payload.subarray(start, at) }];
  });
}

function run({ model: size, inputs, outputs }, payload) {
  const graphModel = model(payload.subarray(0, size));
  const constants = graphModel.graph.initializers.map((item) => [item.name, item]);
  const results = split(graphModel, new Map([...constants, ...valuesOf(inputs, payload.subarray(size))]));
  return outputs.map((name) => {
    ensure(results.has(name), `no node makes output ${name}`);
    return results.get(name);
  });
}

function answer(header, payload) {
  const { id } = header;
  try {
    const outputs = run(header, payload);
    const described = outputs.map(({ type, shape }) => ({ kind: "tensor", type, shape }));
    return message({ kind: "answer", id, outputs: described }, outputs.map(({ data }) => data));
  } catch (error) {
    if (error instanceof Refused) {
      return message({ kind: "refused", id, error: "Refused", message: error.message });
    }
    if (error instanceof Unsupported) {
      return message({ kind: "unsupported", id, error: "Unsupported", message: error.message, reason: error.reason });
    }
    throw error;
  }
}

// Take the first whole message off the bytes, or nothing.
function take(bytes) {
  const end = bytes.indexOf(0x0a);
  if (end < 0) return null;
  const header = JSON.parse(bytes.toString("utf8", 0, end));
  const stop = end + 1 + header.payload;
  if (bytes.length < stop) return null;
  return { header, payload: bytes.subarray(end + 1, stop), rest: bytes.subarray(stop) };
}

async function serve() {
  process.stdout.write(
    message({ kind: "hello", protocol: 1, name: "split_float32", runtime: "split_float32", version: "1.0" }),
  );
  let waiting = Buffer.alloc(0);
  for await (const chunk of process.stdin) {
    waiting = Buffer.concat([waiting, chunk]);
    for (let next = take(waiting); next; next = take(waiting)) {
      waiting = next.rest;
      if (next.header.kind !== "run") throw new Error(`a request of kind ${next.header.kind}`);
      process.stdout.write(answer(next.header, next.payload));
    }
  }
}

await serve();
