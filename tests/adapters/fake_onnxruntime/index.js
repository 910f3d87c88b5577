// SPDX-License-Identifier: Apache-2.0
// Stands for onnxruntime-node or onnxruntime-web: it throws what the bytes of the model say, or gives its inputs back.

let open = 0;

class Tensor {
  constructor(type, data, dims) {
    if (type === "float16" && !(data instanceof Uint16Array)) throw new TypeError("float16 is given as Uint16Array");
    if (type.endsWith("int64") && typeof data[0] !== "bigint" && data.length) throw new TypeError("no BigInt");
    Object.assign(this, { type, data, dims });
  }
}

const thrown = ({ name = "Error", message, number }) => number ?? Object.assign(new Error(message), { name });

// A module that ends with a trap when it starts.
const UNREACHABLE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 8, 1, 0, 10, 5, 1, 3, 0, 0, 11,
]);

const env = { versions: {}, wasm: {} };

const InferenceSession = {
  async create(model, options) {
    if (open) throw new Error(`${open} sessions are still open`);
    const text = new TextDecoder().decode(model);
    const { create, run, give, trap, lost, outputMetadata } = text.startsWith("{") ? JSON.parse(text) : {};
    if (create) throw thrown(create);
    if (lost) env.webgpu = { device: { lost: Promise.resolve({ reason: lost, message: "gone" }) } };
    if (trap) await WebAssembly.instantiate(UNREACHABLE);
    open += 1;
    return {
      outputMetadata,
      async run(feeds, names) {
        if (run) throw thrown(run);
        if (give === "options") return { x0: new Tensor("string", [JSON.stringify({ options, env })], []) };
        if (give) return { x0: give };
        return Object.fromEntries((names ?? Object.keys(feeds)).map((name) => [name, feeds[name]]));
      },
      async release() {
        open -= 1;
      },
    };
  },
};

module.exports = { InferenceSession, Tensor, env };
