// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's package for browsers, onnxruntime-web, its WebAssembly in Node.js, one thread.
//
// A trap of WebAssembly (a division by zero, memory out of bounds, the end of the stack) leaves its instance in the
// middle of what it did. The process then ends by SIGABRT, so that the case is a crash and no other pays for it.
// What fails though the Python package of the same version does not, and why (1.30.0):
//
// - The interface passes tensors alone: no sequence, no map, no optional that holds nothing; of element types none but
//   those of its Tensor, and int4 and uint4 as inputs only. A model whose graph has an input or output of another type
//   is not even loaded ("unsupported data type: 16").
// - An output that is an optional without a value is an error; of a sequence, a C++ exception that nobody translates.
// - RMSNormalization as its function body is refused: it infers a shape that is not there ("Inferred=4 Declared=120").
// - A string is cut at its first NUL.
// - Its memory is 4 GiB of address space, so `--memory` needs more than that.
//
// With the option `webgpu`, as in onnxruntime_web[webgpu], it runs in headless Chromium instead: see
// onnxruntime_chromium.mjs. It needs Chromium 140 or newer on the path, and runs on the software driver SwiftShader.

import process from "node:process";

import { main as mainInChromium } from "./onnxruntime_chromium.mjs";
import { main } from "./onnxruntime_javascript.mjs";

const PROVIDERS = ["wasm", "webgpu"];
const option = process.env.ONNX_CONFORMANCE_OPTION || PROVIDERS[0];

const prepare = ({ env }) => {
  if (option !== "wasm") throw new Error(`there is no option '${option}'; there are ${PROVIDERS.join(", ")}`);
  env.wasm.numThreads = 1;
  env.wasm.proxy = false;
};

await (option === "webgpu" ? mainInChromium() : main({ name: "onnxruntime-web", provider: "wasm", prepare }));
