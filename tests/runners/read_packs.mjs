// SPDX-License-Identifier: Apache-2.0
// Reads packs with runners/browser/pack.mjs: `node read_packs.mjs read PACK` prints a line for each case, and `judge PACK`
// the verdict on each reply of standard input. `open PACK...` prints an error or the number of cases of each pack.

import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { openAsBlob } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";

import { Payload, encode } from "../../backends/values.mjs";
import { NotJudged } from "../../runners/browser/elements.mjs";
import { judge } from "../../runners/browser/judge.mjs";
import { openPack } from "../../runners/browser/pack.mjs";

const print = (value) => console.log(JSON.stringify(value));
const digest = (parts) => createHash("sha256").update(Buffer.concat(parts)).digest("hex");

async function* cases(path) {
  const pack = await openPack(await openAsBlob(path));
  for (const { operator } of pack.operators) yield* await pack.cases(operator);
}

const [does, ...paths] = process.argv.slice(2);
if (does === "read") {
  for await (const item of cases(paths[0])) {
    const buffers = [];
    const named = (values) => [...values].map(([name, value]) => [name, encode(value, buffers)]);
    const described = [
      named(item.inputs),
      item.earlier && named(item.earlier),
      item.expected?.map((value) => value && encode(value, buffers)) ?? null,
      item.bounds?.map((value) => encode(value, buffers)) ?? null,
      [...item.others].map(([index, values]) => [index, values.map((value) => encode(value, buffers))]),
    ];
    const files = [...item.files].map(([name, bytes]) => [name, digest([bytes])]);
    const { id, outputs, clauses, force, tags, outcome, form } = item;
    print({ id, outputs, clauses, force, tags, outcome, form, files, described, model: digest([item.model]), bytes: digest(buffers) });
  }
} else if (does === "judge") {
  const known = new Map();
  for await (const item of cases(paths[0])) known.set(item.id, item);
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, bytes, ...reply } = JSON.parse(line);
    const reader = new Payload(Buffer.from(bytes, "base64"));
    try {
      const outputs = reply.outputs?.map((value) => reader.decode(value));
      print(judge(known.get(id), { ...reply, outputs }));
    } catch (error) {
      if (!(error instanceof NotJudged)) throw error;
      print({ notJudged: error.message });
    }
  }
} else {
  for (const path of paths) {
    try {
      let count = 0;
      for await (const item of cases(path)) count += item.id ? 1 : 0;
      print({ count });
    } catch (error) {
      print({ error: error.name, message: error.message });
    }
  }
}
