// SPDX-License-Identifier: Apache-2.0
// onnxruntime-web in headless Chromium, with its execution provider for WebGPU: the adapter's part in Node.js.
// onnxruntime_page.mjs is the part in the page.

import { Buffer } from "node:buffer";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { crash, opened } from "./chromium.mjs";
import { ARRAYS, FEEDS, REQUEST, adapter, loaded, optionsOf, served } from "./onnxruntime_javascript.mjs";
import { encode } from "./protocol.mjs";

const PACKAGE = "onnxruntime-web";
const FILE = "ort.webgpu.min.mjs"; // The build of the package with this provider.
const FLAGS = [
  "--enable-unsafe-webgpu", // On Linux, WebGPU is not enabled by default.
  "--use-webgpu-adapter=swiftshader",
];
const MORE_OPT_OUTS = [
  [
    "Error", /graph nodes that are assigned to the default CPU EP, but fallback to CPU EP has been explicitly disabled/,
    "the execution provider does not take every node",
  ],
  ["Error", /requires f16 but the device does not support it\.?\s*$/, "no float16 on this device"],
];

const OPTIONS = {
  ...optionsOf("webgpu"),
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
${ARRAYS}const bytes = (text) => Uint8Array.fromBase64(text);
let answer;
try {
  const ort = await import("/${FILE}");
  ort.env.wasm.numThreads = 1;
  const request = await (await fetch("/request")).json();
  const session = await ort.InferenceSession.create(bytes(request.model), ${JSON.stringify(OPTIONS)});
${FEEDS}  const results = await session.run(feeds);
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


${REQUEST}answers = []
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
flags = ${JSON.stringify(["--headless=new", "--no-sandbox", "--no-first-run", ...FLAGS])}
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

/** Returns the result of a function of the page, or throws the error that it returned instead. */
async function called(page, name, ...words) {
  const result = await page.call(name, ...words);
  if (result.fatal) crash(result.fatal); // The page cannot be used again.
  if ("message" in result) throw Object.assign(new Error(result.message), { name: result.name });
  return result;
}

async function session(page, model) {
  await called(page, "session", Buffer.from(model).toString("base64"));
  return async (inputs, outputs) => {
    const buffers = [];
    const described = [...inputs].map(([name, value]) => [name, encode(value, buffers)]);
    const { values } = await called(page, "run", described, Buffer.concat(buffers).toString("base64"), outputs);
    return values.map(({ data = "", ...rest }) => ({ ...rest, data: Buffer.from(data, "base64") }));
  };
}

/** Serves onnxruntime-web with WebGPU, as serve_node.py starts it. */
export async function main() {
  await served(async (folder) => {
    const { made: dist, version } = loaded(folder, PACKAGE, (at) => path.join(at, "node_modules", PACKAGE, "dist"));
    const folders = { backends: path.dirname(fileURLToPath(import.meta.url)), package: dist };
    const page = await opened(FLAGS, folders, "backends/onnxruntime_page.mjs");
    await page.call("start", `/package/${FILE}`, OPTIONS);
    return adapter({
      name: PACKAGE,
      runtime: `${PACKAGE}, webgpu`,
      version,
      repro: repro(version),
      session: (model) => session(page, model),
      optOuts: MORE_OPT_OUTS,
    });
  });
}
