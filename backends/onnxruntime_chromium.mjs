// SPDX-License-Identifier: Apache-2.0
// onnxruntime-web in headless Chromium, with its execution provider for WebGPU: the adapter's part in Node.js.
// onnxruntime_page.mjs is the part in the page.

import { Buffer } from "node:buffer";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

import { crash, opened } from "./chromium.mjs";
import { OPT_OUTS, TENSOR_TYPES } from "./onnxruntime_tensors.mjs";
import { ELEMENT_TYPES, encode, serve } from "./protocol.mjs";

const PACKAGE = "onnxruntime-web";
const FILE = "ort.webgpu.min.mjs"; // The build of the package with this provider.
const FLAGS = ["--enable-unsafe-webgpu"]; // Linux: WebGPU is not enabled by default there.
const SWIFTSHADER = "--use-webgpu-adapter=swiftshader";
const MORE_OPT_OUTS = [
  [
    "Error", /graph nodes that are assigned to the default CPU EP, but fallback to CPU EP has been explicitly disabled/,
    "the execution provider does not take every node",
  ],
  ["Error", /requires f16 but the device does not support it\.?\s*$/, "no float16 on this device"],
];

const OPTIONS = {
  executionProviders: ["webgpu"],
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 4,
  extra: { session: { disable_cpu_ep_fallback: "1" } }, // Else nodes without a kernel for it run on WebAssembly.
};

/** The Python lines that run a model in Chromium without this project, and assign its outputs. */
const repro = (/** @type {string} */ version) => `# In this folder: npm install --ignore-scripts ${PACKAGE}@${version}
# It needs Chromium on the path.
import base64
import http.server
import json
import os
import shutil
import subprocess
import tempfile
import threading

PAGE = """<!doctype html><script type="module">
const arrays = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, bool: Uint8Array, int4: Uint8Array,
  uint4: Uint8Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array,
  uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
};
const bytes = (text) => Uint8Array.fromBase64(text);
let answer;
try {
  const ort = await import("/${FILE}");
  ort.env.wasm.numThreads = 1;
  const request = await (await fetch("/request")).json();
  const session = await ort.InferenceSession.create(bytes(request.model), ${JSON.stringify(OPTIONS)});
  const feeds = {};
  for (const [name, { type, dims, data }] of Object.entries(request.inputs)) {
    feeds[name] = new ort.Tensor(type, type === "string" ? data : new arrays[type](bytes(data).buffer), dims);
  }
  const results = await session.run(feeds);
  const outputs = request.outputs.map((name) => {
    const { type, dims, data } = results[name];
    const text = () => new Uint8Array(data.buffer, data.byteOffset, data.byteLength).toBase64();
    return { type, dims, data: type === "string" ? data : text() };
  });
  answer = { outputs };
} catch (error) {
  const ended = error instanceof WebAssembly.RuntimeError || /call stack/.test(error?.message);
  answer = { [ended ? "crash" : "error"]: String(error?.message ?? error) };
}
await fetch("/", { method: "POST", body: JSON.stringify(answer) });
</script>"""


def described(array):
    tensor = onnx.numpy_helper.from_array(array)
    strings = tensor.data_type == onnx.TensorProto.STRING
    data = array.reshape(-1).tolist() if strings else base64.b64encode(tensor.raw_data).decode()
    return {"type": "string" if strings else array.dtype.name, "dims": array.shape, "data": data}


def array_of(described):
    if described["type"] == "string":
        return np.array(described["data"], dtype=object).reshape(described["dims"])
    return np.frombuffer(base64.b64decode(described["data"]), described["type"]).reshape(described["dims"])


request = {
    "model": base64.b64encode(model.SerializeToString()).decode(),
    "inputs": {name: described(array) for name, array in inputs.items()},
    "outputs": [value.name for value in model.graph.output],
}
answers = []
answered = threading.Event()


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {".mjs": "text/javascript", ".wasm": "application/wasm", "": "application/octet-stream"}

    def __init__(self, *args):
        super().__init__(*args, directory="node_modules/${PACKAGE}/dist")

    def log_message(self, *args):
        pass

    def do_GET(self):
        body = {"/": PAGE, "/request": json.dumps(request)}.get(self.path)
        if body is None:
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if self.path == "/" else "application/json")
        self.end_headers()
        self.wfile.write(body.encode())

    def do_POST(self):
        answers.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()
        answered.set()


chromium = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
if chromium is None or not os.path.exists("node_modules/${PACKAGE}/dist/${FILE}"):
    raise ImportError("Chromium or ${PACKAGE} is not installed")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
flags = ${JSON.stringify(["--headless=new", "--no-sandbox", "--no-first-run", ...FLAGS, SWIFTSHADER])}
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    address = f"http://127.0.0.1:{server.server_port}/"
    null = subprocess.DEVNULL
    browser = subprocess.Popen([chromium, *flags, f"--user-data-dir={profile}", address], stdout=null, stderr=null)
    answered.wait(60)
    browser.kill()
    browser.wait()
if not answers:
    raise SystemExit("the page gave no answer within 60 s")
if "crash" in answers[0]:
    raise SystemExit(f"WebAssembly ended: {answers[0]['crash']}")
if "error" in answers[0]:
    raise RuntimeError(answers[0]["error"])
outputs = [array_of(value) for value in answers[0]["outputs"]]
`;

/** An error of the page, as it was there. */
function rethrown({ fatal, name, message }) {
  if (fatal) {
    crash(fatal); // The page cannot be used again.
  }
  return Object.assign(new Error(message), { name });
}

async function session(page, model) {
  const answer = await page.call("session", Buffer.from(model).toString("base64"));
  if ("message" in answer || answer.fatal) throw rethrown(answer);
  return async (inputs, outputs) => {
    const buffers = [];
    const described = [...inputs].map(([name, value]) => [name, encode(value, buffers)]);
    const result = await page.call("run", described, Buffer.concat(buffers).toString("base64"), outputs);
    if ("message" in result || result.fatal) throw rethrown(result);
    return result.values.map(({ data = "", ...rest }) => ({ ...rest, data: Buffer.from(data, "base64") }));
  };
}

/** Serves onnxruntime-web with WebGPU, as serve_node.py starts it. */
export async function main() {
  const [folder = ".", requests = 0, answers = 1] = process.argv.slice(2);
  const load = async () => {
    const at = path.resolve(folder, "node_modules", PACKAGE);
    const { version } = JSON.parse(fs.readFileSync(path.join(at, "package.json"), "utf8"));
    const adapters = path.dirname(fileURLToPath(import.meta.url));
    const folders = { backends: adapters, package: path.join(at, "dist") };
    const page = await opened([...FLAGS, SWIFTSHADER], folders, "backends/onnxruntime_page.mjs");
    await page.call("start", `/package/${FILE}`, OPTIONS);
    return {
      name: "onnxruntime_web",
      OPT_OUTS: [...MORE_OPT_OUTS, ...OPT_OUTS],
      info: () => ({
        runtime: `${PACKAGE}, webgpu`,
        version,
        repro: repro(version),
        types: ELEMENT_TYPES.filter(({ number }) => TENSOR_TYPES.has(number)).map((row) => row.name),
        containers: ["optional"],
      }),
      session: (model) => session(page, model),
    };
  };
  await serve(load, Number(requests), Number(answers));
}
