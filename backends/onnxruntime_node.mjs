// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's package for Node.js, onnxruntime-node, on the CPU, one thread.
//
// The library is the one of the Python package, and what it computes is the same; the JavaScript and the binding around
// it are others. What fails because of these, and why (1.30.0):
//
// - The interface passes tensors alone: no sequence, no map, no optional that holds nothing; of element types none but
//   those of its Tensor, and of these the binding lacks int4 and uint4 as inputs. A model whose graph has an input or
//   output of another type is not even loaded ("Unsupported data type: 16").
// - An output of int4 or uint4 ends the process by SIGABRT: the binding asks for an array of a size that is not one.
// - An output that is an optional without a value ends it by SIGSEGV.
// - A string is cut at its first NUL.
// - ALLOW_RELEASED_ONNX_OPSET_ONLY=0 in the environment lets it load opsets that are not released.

import { main } from "./onnxruntime_javascript.mjs";

await main({ name: "onnxruntime-node", provider: "cpu", lacks: ["uint4", "int4"] });
