// SPDX-License-Identifier: Apache-2.0
//! Lists the cases of a pack, or extracts one of them.
//!
//!     pack_reader FILE               prints the id and the outcome of each case
//!     pack_reader FILE CASE FOLDER   writes the model and the tensors of a case to files, and prints a line for each
//!
//! The status is 1 if the case does not exist, and 2 if the file cannot be read.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use onnx_conformance_runner::json::{write_text, Json};
use onnx_conformance_runner::pack::{piece, Operator, Pack};
use onnx_conformance_runner::wire::{described, elements, strings, type_name, STRING};
use onnx_conformance_runner::{malformed, Malformed};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match &words[..] {
        [file] => list(file),
        [file, case, folder] => extract(file, case, Path::new(folder)),
        _ => malformed("usage: pack_reader FILE [CASE FOLDER]"),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("onnx_conformance: {} has no case {}", words[0], words[1]);
            ExitCode::from(1)
        }
        Err(problem) => {
            eprintln!("onnx_conformance: {problem}");
            ExitCode::from(2)
        }
    }
}

fn open(file: &str) -> Result<Pack, Malformed> {
    Pack::open(fs::read(file).map_err(|error| Malformed(format!("{file} cannot be read: {error}")))?)
}

fn print(line: &[u8]) -> Result<(), Malformed> {
    io::stdout().write_all(line).map_err(|error| Malformed(format!("the output cannot be written: {error}")))
}

fn list(file: &str) -> Result<bool, Malformed> {
    let pack = open(file)?;
    for operator in pack.operators()? {
        for case in pack.read(operator)?.cases {
            print(&[case.text("id")?, b"\t", case.text("outcome")?, b"\n"].concat())?;
        }
    }
    Ok(true)
}

fn extract(file: &str, id: &str, folder: &Path) -> Result<bool, Malformed> {
    let pack = open(file)?;
    for entry in pack.operators()? {
        if !id.as_bytes().starts_with(entry.text("operator")?) {
            continue;
        }
        let operator = pack.read(entry)?;
        let source = Source { pack: &pack, operator };
        if let Some(case) = source.operator.cases.iter().find(|case| case.text("id") == Ok(id.as_bytes())) {
            write_case(&source, case, folder)?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// Where the bytes of the cases of an operator are.
struct Source<'a> {
    pack: &'a Pack,
    operator: Operator,
}

fn write_case(source: &Source, case: &Json, folder: &Path) -> Result<(), Malformed> {
    let Some(model) = case.get("model") else { return malformed("a case has no model") };
    write_file(folder, "model.onnx", piece(model, &source.operator.data)?)?;
    print(b"model.onnx\n")?;
    for (index, input) in case.array("inputs")?.iter().enumerate() {
        let Some(value) = input.get("value") else { return malformed("an input has no value") };
        write_value(source, value, input.text("name")?, &format!("input_{index}"), folder)?;
    }
    if case.get("expected").is_some() {
        let names = case.array("outputs")?;
        for (index, (value, name)) in case.array("expected")?.iter().zip(names).enumerate() {
            let Json::Text(name) = name else { return malformed("the name of an output is not a string") };
            write_value(source, value, name, &format!("expected_{index}"), folder)?;
        }
    }
    Ok(())
}

/// Write the tensors of a value to files whose names begin with `stem`, and print a line for each.
fn write_value(source: &Source, value: &Json, name: &[u8], stem: &str, folder: &Path) -> Result<(), Malformed> {
    let parts: &[Json] = match value {
        Json::Null => return print(&[stem.as_bytes(), b"\t", name, b"\trandom\n"].concat()),
        _ => match value.text("kind")? {
            b"tensor" => return write_tensor(source, value, name, stem, folder),
            b"sequence" => value.array("items")?,
            b"map" => value.array("values")?,
            b"optional" => value.get("item").filter(|item| **item != Json::Null).map_or(&[], std::slice::from_ref),
            _ => return malformed("a value of another kind than tensor, sequence, map or optional"),
        },
    };
    print(&[stem.as_bytes(), b"\t", name, b"\t", value.text("kind")?, b"\n"].concat())?;
    if let Some(keys) = value.get("keys") {
        write_tensor(source, keys, name, &format!("{stem}_keys"), folder)?;
    }
    for (index, part) in parts.iter().enumerate() {
        write_value(source, part, name, &format!("{stem}_{index}"), folder)?;
    }
    Ok(())
}

fn write_tensor(source: &Source, value: &Json, name: &[u8], stem: &str, folder: &Path) -> Result<(), Malformed> {
    let (element_type, shape, _) = described(value)?;
    let shape_text = format!("{shape:?}").replace(' ', "");
    let mut line =
        [name, b"\t", type_name(element_type).unwrap_or("").as_bytes(), b"\t", shape_text.as_bytes()].concat();
    if element_type == STRING {
        line.splice(0..0, [stem.as_bytes(), b"\t"].concat());
        for text in strings(value, elements(&shape).unwrap_or(0))? {
            line.push(b'\t');
            write_text(&mut line, &text);
        }
    } else {
        let file = format!("{stem}.bin");
        write_file(folder, &file, &source.pack.tensor(value, &source.operator.data)?)?;
        line.splice(0..0, [file.as_bytes(), b"\t"].concat());
    }
    line.push(b'\n');
    print(&line)
}

fn write_file(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Malformed> {
    let path = folder.join(name);
    fs::write(&path, bytes).map_err(|error| Malformed(format!("{} cannot be written: {error}", path.display())))
}
