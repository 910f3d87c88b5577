// SPDX-License-Identifier: Apache-2.0
// An adapter in JavaScript without a runtime: it gives its inputs back, or does what the bytes of the model say.

import { Buffer } from "node:buffer";
import fs from "node:fs";
import process from "node:process";

import { Messages, Payload, encode, message, serve } from "../../backends/protocol.mjs";

// A module whose only function divides by zero.
const DIVIDES = "0061736d010000000105016000017f03020100070801046e756c6c00000a09010700410141006d0b";

class Lacking extends Error {
  name = "Lacking";
}

const DOES = {
  trap: () => new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(DIVIDES, "hex"))).exports.null(),
  overflow: () => DOES.overflow() + 1,
  segfault: () => process.kill(process.pid, "SIGSEGV"),
  print: () => console.log("printed"),
  native: () => fs.writeSync(1, "written to descriptor 1\n"),
  reads: () => { if (fs.readSync(0, Buffer.alloc(1)) !== 0) throw new Error("there was something to read"); },
  lacks: () => { throw new Lacking("no kernel for this"); },
  breaks: () => { throw new Lacking("it cannot be loaded"); },
  fails: () => { throw new Lacking("it is broken"); },
  hangs: () => { for (;;); },
  number: () => { throw 7; },
  short: () => [{ kind: "tensor", type: 1, shape: [2], data: new Uint8Array(7) }],
  nothing: () => undefined,
  bigint: () => [5n],
};

const DOES_AND_ANSWERS = new Set([undefined, DOES.print, DOES.native, DOES.reads]);

const adapter = {
  name: "echo",
  OPT_OUTS: [["Lacking", /no kernel/, "no kernel"]],
  info: () => ({ runtime: "echo", version: "1" }),
  run: (model, inputs, outputs) => {
    const does = DOES[model.toString()];
    const gives = does?.();
    return DOES_AND_ANSWERS.has(does) ? outputs.map((name) => inputs.get(name)) : gives;
  },
};

// The same as a runtime that loads a model before it runs it: only what `breaks` is found out while it loads.
const sessions = {
  ...adapter,
  run: undefined,
  session: (model) => {
    if (model.toString() === "breaks") DOES.breaks();
    return (inputs, outputs) => adapter.run(model, inputs, outputs);
  },
};

const [what, requests = 0, answers = 1] = process.argv.slice(2);
if (what === "messages") { // What is read is written again, or the reason why it cannot be.
  const messages = new Messages(0);
  try {
    for (let next = messages.read(); next !== null; next = messages.read()) {
      const payload = new Payload(next.payload);
      const values = (next.header.values ?? []).map((value) => payload.decode(value));
      payload.end();
      const buffers = [];
      fs.writeSync(1, message({ kind: "read", values: values.map((value) => encode(value, buffers)) }, buffers));
    }
  } catch (error) {
    fs.writeSync(1, message({ kind: error.constructor.name, message: error.message }));
  }
} else {
  await serve(() => {
    if (what === "absent") throw new Error("there is no runtime");
    return what === "sessions" ? sessions : adapter;
  }, Number(requests), Number(answers));
}
