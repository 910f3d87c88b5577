// SPDX-License-Identifier: Apache-2.0
/**
 * A page in headless Chromium whose functions a program in Node.js calls, for runtimes that need a browser.
 *
 * Chromium is controlled through a pipe, by its DevTools protocol
 * (https://chromedevtools.github.io/devtools-protocol/). It ends when the pipe closes, so it does not outlive this
 * process, however that ends.
 *
 * @module chromium
 */

import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import process from "node:process";

/** The names of the program; the first that is on the path is used. */
const NAMES = ["chromium", "chromium-browser", "google-chrome"];
const FLAGS = [
  "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--disable-sync",
  "--disable-background-networking", "--disable-component-update", "--disable-extensions",
];
const TYPES = new Map([[".mjs", "text/javascript"], [".wasm", "application/wasm"], [".html", "text/html"]]);
const PROFILE = "onnx-conformance-chromium-"; // And the number of the process.
const OF_SOCKET = /^\.?(org\.chromium|com\.google)\.Chrom\w+\.\w+$/; // Chromium's own folder for its socket.
const END = 0; // The byte after each message of the pipe.

/** There is no Chromium. */
class NoBrowserError extends Error {
  name = "NoBrowserError";
}

/**
 * Return the path of Chromium.
 *
 * @returns {string}
 * @throws {NoBrowserError} none of NAMES is on the path
 */
function program() {
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter(Boolean);
  const files = NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  const found = files.find((file) => fs.existsSync(file));
  if (!found) throw new NoBrowserError(`none of ${NAMES.join(", ")} is on the path; install Chromium`);
  return found;
}

/**
 * Serve the files of some folders on this machine, without their subfolders; "/" is an empty page.
 *
 * @param {Record<string, string>} folders - by the first part of an address, the path of the folder
 * @returns {Promise<string>} the address, such as http://127.0.0.1:1234
 */
async function served(folders) {
  const server = http.createServer((request, response) => {
    const [, name = "", file = "", ...more] = new URL(request.url ?? "/", "http://localhost").pathname.split("/");
    if (!name) {
      response.setHeader("Content-Type", "text/html").end("<!doctype html>");
    } else if (!Object.hasOwn(folders, name) || !/^\w[\w.-]*$/.test(file) || more.length) {
      response.writeHead(404).end();
    } else {
      fs.readFile(path.join(folders[name], file), (error, data) => {
        if (error) response.writeHead(404).end();
        else response.setHeader("Content-Type", TYPES.get(path.extname(file)) ?? "application/octet-stream").end(data);
      });
    }
  });
  await new Promise((listens) => server.listen(0, "127.0.0.1", () => listens(null)));
  return `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}`;
}

/**
 * Remove the folder of a Chromium that was killed, and the one with its socket, which is elsewhere.
 *
 * @param {string} profile
 */
function remove(profile) {
  const options = { recursive: true, force: true, maxRetries: 3 };
  try {
    const folder = path.dirname(fs.readlinkSync(path.join(profile, "SingletonSocket")));
    // The link may be someone else's: no other folder is removed.
    if (path.dirname(folder) === os.tmpdir() && OF_SOCKET.test(path.basename(folder))) fs.rmSync(folder, options);
  } catch {
    // It has none, because it ended before.
  }
  try {
    fs.rmSync(profile, options);
  } catch {
    // A process of Chromium still writes there. The next start removes the folder.
  }
}

/** Remove this user's folders of processes that were killed. */
function removeAbandoned() {
  for (const name of fs.readdirSync(os.tmpdir())) {
    const number = new RegExp(`^${PROFILE}(\\d+)-`).exec(name)?.[1];
    if (!number) continue;
    const folder = path.join(os.tmpdir(), name);
    try {
      process.kill(Number(number), 0);
    } catch {
      // No process of this user has that number.
      if (fs.lstatSync(folder, { throwIfNoEntry: false })?.uid === process.getuid?.()) remove(folder);
    }
  }
}

/** Ends Chromium and removes its folder. */
let close = () => {};

/**
 * End this process by SIGABRT, and Chromium, so that the harness reports a crash.
 *
 * @param {string} why - a sentence for standard error
 */
export function crash(why) {
  console.error(why);
  close();
  process.abort();
}

/** A page of a running Chromium. */
class Page {
  /** @type {Map<number, {resolve: (result: any) => void, reject: (error: Error) => void}>} */
  #waiting = new Map();
  #sent = 0;
  #session = "";
  #held = Buffer.alloc(0);

  /**
   * @param {import("node:child_process").ChildProcess} chromium
   * @param {(why: string) => void} ended - called if Chromium or the page ends by itself
   */
  constructor(chromium, ended) {
    const [, , , writable, readable] = /** @type {any[]} */ (chromium.stdio);
    this.writable = writable;
    writable.on("error", () => {}); // Chromium has ended, which "exit" reports.
    readable.on("data", (/** @type {Buffer} */ chunk) => this.#read(chunk, ended));
    chromium.on("exit", (status, signal) => ended(`Chromium ended: ${signal ?? status}`));
  }

  /**
   * @param {Buffer} chunk
   * @param {(why: string) => void} ended
   */
  #read(chunk, ended) {
    this.#held = Buffer.concat([this.#held, chunk]);
    for (let end = this.#held.indexOf(END); end >= 0; end = this.#held.indexOf(END)) {
      const { id, error, result, method, params } = JSON.parse(this.#held.subarray(0, end).toString("utf8"));
      this.#held = this.#held.subarray(end + 1);
      if (method === "Inspector.targetCrashed") ended("the page of Chromium crashed");
      if (method === "Runtime.consoleAPICalled" && ["error", "warning"].includes(params.type)) {
        console.error(params.args.map((/** @type {any} */ item) => item.value ?? item.description).join(" "));
      }
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error) waiting?.reject(new Error(`Chromium: ${error.message}`));
      else waiting?.resolve(result);
    }
  }

  /**
   * Send a command of the DevTools protocol, and return its result.
   *
   * @param {string} method
   * @param {object} [params]
   * @returns {Promise<any>}
   */
  send(method, params = {}) {
    this.#sent += 1;
    const session = this.#session ? { sessionId: this.#session } : {};
    this.writable.write(`${JSON.stringify({ id: this.#sent, method, params, ...session })}\0`);
    return new Promise((resolve, reject) => this.#waiting.set(this.#sent, { resolve, reject }));
  }

  /**
   * Open an address and import a module as `page`, whose functions {@link call} calls.
   *
   * @param {string} address
   * @param {string} module - the address of the module
   */
  async open(address, module) {
    const { targetId } = await this.send("Target.createTarget", { url: `${address}/` });
    this.#session = (await this.send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    await this.send("Inspector.enable");
    await this.send("Runtime.enable");
    // An import is lost if the page that it is in makes room for this one.
    while ((await this.evaluate("location.href")) !== `${address}/`);
    await this.evaluate(`import(${JSON.stringify(module)}).then((page) => { globalThis.page = page; })`);
  }

  /**
   * Return the value of an expression in the page, which JSON can describe.
   *
   * @param {string} expression
   * @returns {Promise<any>}
   * @throws {Error} the expression threw an error
   */
  async evaluate(expression) {
    const { result, exceptionDetails: thrown } = await this.send("Runtime.evaluate", {
      expression, awaitPromise: true, returnByValue: true,
    });
    if (thrown) throw new Error(thrown.exception?.description ?? thrown.text);
    return result.value;
  }

  /**
   * Call a function of the page's module.
   *
   * @param {string} name
   * @param {...any} words - its arguments, which JSON can describe
   * @returns {Promise<any>}
   */
  call(name, ...words) {
    return this.evaluate(`page.${name}(...${JSON.stringify(words)})`);
  }
}

/**
 * Start Chromium, and open a page with a module.
 *
 * If Chromium or the page ends by itself, this process ends by SIGABRT, so that the harness reports a crash.
 *
 * @param {string[]} flags - for Chromium, in addition to those that every page needs
 * @param {Record<string, string>} folders - the folders of which the page may load files, by name
 * @param {string} module - the module, as NAME/FILE.mjs
 * @returns {Promise<Page>}
 * @throws {NoBrowserError} there is no Chromium
 */
export async function opened(flags, folders, module) {
  const file = program();
  removeAbandoned();
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), `${PROFILE}${process.pid}-`));
  const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : []; // Chromium's own sandbox does not start for root.
  const words = [...FLAGS, ...sandbox, ...flags, `--user-data-dir=${profile}`, "about:blank"];
  const chromium = spawn(file, words, {
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    detached: true, // It has several processes, which end together.
  });
  close = () => {
    close = () => {};
    if (chromium.pid !== undefined) process.kill(-chromium.pid, "SIGKILL");
    remove(profile);
  };
  process.on("exit", () => close());
  const page = new Page(chromium, crash);
  const address = await served(folders);
  await page.open(address, `${address}/${module}`);
  return page;
}
