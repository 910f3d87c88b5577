// SPDX-License-Identifier: Apache-2.0
//! The smallest runner: it returns its inputs, so that a test can send every value through the wire format and back.

use std::io::{self, Write};

use onnx_conformance_runner::wire;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut answers = wire::answers()?;
    answers.write_all(&wire::hello(&[("runtime", "echo"), ("version", "1")], &["earlier", "files"]))?;
    let mut requests = io::stdin().lock();
    loop {
        match wire::read(&mut requests) {
            Ok(None) => return Ok(()),
            Ok(Some(request)) => {
                let outputs = request.inputs.into_iter().map(|(_, value)| value).collect();
                answers.write_all(&wire::answer(request.id, &Ok(outputs), 0.25))?;
            }
            Err(problem) => {
                eprintln!("onnx_conformance: {problem}");
                std::process::exit(2);
            }
        }
    }
}
