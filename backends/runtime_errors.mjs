// SPDX-License-Identifier: Apache-2.0
/**
 * The errors of runtimes in JavaScript: which of them report missing support, and which leave a runtime unusable.
 *
 * This module works in Node.js and in browsers.
 *
 * @module runtime_errors
 */

/**
 * An error with which a runtime reports missing support: the name of the error, a pattern of its message, and the reason
 * in a few words that are the same each time.
 *
 * @typedef {[string, RegExp, string]} OptOut
 */

const MOST_TEXT = 20_000; // Characters.

/**
 * Return the name of an error.
 *
 * @param {any} error - anything that was thrown
 * @returns {string} the type of the value if it has no name
 */
export const nameOf = (error) => String(error?.name ?? typeof error);

/**
 * Return the message of an error.
 *
 * @param {any} error - anything that was thrown
 * @returns {string} at most 20,000 characters
 */
export const textOf = (error) => String(error?.message ?? error).slice(0, MOST_TEXT);

/**
 * Return the reason of the first row that matches an error.
 *
 * @param {OptOut[]} table
 * @param {unknown} error - anything that was thrown
 * @returns {string | null} null: no row matches, so the error is a failure
 */
export function optOut(table, error) {
  const row = table.find(([name, pattern]) => name === nameOf(error) && pattern.test(textOf(error)));
  return row ? row[2] : null;
}

/**
 * Return whether an error interrupted WebAssembly: a trap, an abort, or the end of its stack.
 *
 * The memory of the instance is then in an undefined state, so no other case may run in it.
 *
 * @param {unknown} error - anything that was thrown
 * @returns {boolean}
 */
export function isTrap(error) {
  return error instanceof WebAssembly.RuntimeError || (error instanceof RangeError && /call stack/.test(error.message));
}
