// SPDX-License-Identifier: Apache-2.0
// Blocks: gzip in base64.

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const plain = atob(text);
  const bytes = new Uint8Array(plain.length);
  for (let i = 0; i < plain.length; i += 1) bytes[i] = plain.charCodeAt(i);
  return bytes;
}

async function unpacked(text) {
  const packed = new Blob([bytesOf(text)]);
  return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

const jsonOf = (bytes) => JSON.parse(new TextDecoder().decode(bytes));

const KINDS = { int32: Int32Array, uint8: Uint8Array };
