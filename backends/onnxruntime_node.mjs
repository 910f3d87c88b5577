// ONNX Runtime's package for Node.js, onnxruntime-node, on the CPU, one thread.
//
// What fails, and why (1.30.0): see below.

import process from "node:process";

import { adapter, loaded, tried } from "./onnxruntime_javascript.mjs";
import { serve } from "./protocol.mjs";

const NAME = "onnxruntime-node";
const OPTIONS = {
  executionProviders: ["cpu"],
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 4, // What it logs of an error it throws as well.
};

const [folder = ".", requests = 0, answers = 1] = process.argv.slice(2);

async function load() {
  const { ort, version } = loaded(folder, NAME);
  ort.env.logLevel = "fatal";
  await tried(ort, OPTIONS);
  return adapter({ ort, name: NAME, version, options: OPTIONS, lacks: ["uint4", "int4"] });
}

await serve(load, Number(requests), Number(answers));
