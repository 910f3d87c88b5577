// SPDX-License-Identifier: Apache-2.0
//! The wire format and the packs of onnx-conformance, with the standard library alone.
//!
//! | module | content |
//! |---|---|
//! | [`wire`] | reads requests of the harness and writes answers: `backends/README.md` |
//! | [`pack`] | reads the cases of a pack: `docs/formats.md`; small enough for a `build.rs` |
//! | [`json`] | the JSON of both |
//! | [`inflate`] | decompresses the members of a pack |
//! | [`model`] | reads the few fields of a ModelProto that the example runtime needs |
//!
//! `src/bin/small_runtime.rs` is a complete runner, and `src/bin/pack_reader.rs` lists and extracts cases.

pub mod inflate;
pub mod json;
pub mod model;
pub mod pack;
pub mod wire;

use std::fmt;

/// A message, a model or a file that does not follow its format; the text contains the problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

impl fmt::Display for Malformed {
    /// Write the problem in one line, without control characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clean = |c: char| if c.is_control() { '?' } else { c };
        f.write_str(&self.0.chars().take(400).map(clean).collect::<String>())
    }
}

impl std::error::Error for Malformed {}

/// Return a [`Malformed`] as an error.
///
/// # Errors
/// Always.
pub fn malformed<T>(problem: impl Into<String>) -> Result<T, Malformed> {
    Err(Malformed(problem.into()))
}
