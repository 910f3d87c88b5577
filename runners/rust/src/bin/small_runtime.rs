// SPDX-License-Identifier: Apache-2.0
//! A runner of onnx-conformance, and the runtime that it tests: Identity, Add since 7, and Split since 2.
//!
//!     onnx-conformance run --backend "cmd:small_runtime" --op Identity --op Add --op Split
//!
//! Replace `run` by your runtime. Everything else is `unsupported`. A request that does not follow the wire format ends
//! the program with one line on standard error, and status 2.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use onnx_conformance_runner::model::{self, Node};
use onnx_conformance_runner::wire::{self, elements, type_bits, type_name, Failure, Request, Value};

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("onnx_conformance: {problem}");
            ExitCode::from(2)
        }
    }
}

fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let mut answers = wire::answers()?;
    println!("this line must not become a part of an answer");
    let fields = [("name", "small_runtime"), ("runtime", "small-runtime"), ("version", env!("CARGO_PKG_VERSION"))];
    answers.write_all(&wire::hello(&fields, &["earlier", "overrides"]))?;
    let mut requests = io::stdin().lock();
    while let Some(request) = wire::read(&mut requests)? {
        let started = Instant::now();
        let result = run(&request);
        answers.write_all(&wire::answer(request.id, &result, started.elapsed().as_secs_f64()))?;
    }
    Ok(())
}

fn refused<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Refused(message.into()))
}

fn unsupported<T>(message: impl Into<String>, reason: &'static str) -> Result<T, Failure> {
    Err(Failure::Unsupported(message.into(), reason))
}

/// Run a model; `earlier` has no effect, because this runtime keeps nothing from one run to the next.
fn run(request: &Request) -> Result<Vec<Value>, Failure> {
    let model = model::read(&request.model).or_else(|problem| refused(problem.to_string()))?;
    if !model.has_graph {
        return refused("the model has no graph");
    }
    if model.opset < 1 {
        return refused("the model imports no opset of ai.onnx");
    }
    if model.has_more {
        return unsupported("the model has functions, or sparse or external initializers", "only nodes and tensors");
    }
    let mut values = model.initializers;
    values.extend(request.inputs.iter().cloned());
    for node in &model.nodes {
        let inputs = arguments(node, &values)?;
        let outputs = match (node.domain.as_str(), node.operator.as_str()) {
            ("", "Identity") => identity(node, &inputs, model.opset)?,
            ("", "Add") => add(node, &inputs, model.opset)?,
            ("", "Split") => split(node, &inputs, model.opset)?,
            _ => return unsupported(format!("{} {}", node.domain, node.operator), "no kernel"),
        };
        values.extend(node.outputs.iter().cloned().zip(outputs));
    }
    let output = |name| values.get(name).cloned();
    match request.outputs.iter().map(output).collect() {
        Some(outputs) => Ok(outputs),
        None => refused("no node computes a requested output"),
    }
}

/// Return the inputs of a node; `None` is an omitted one.
fn arguments<'a>(node: &Node, values: &'a BTreeMap<Vec<u8>, Value>) -> Result<Vec<Option<&'a Value>>, Failure> {
    let value = |name: &Vec<u8>| match values.get(name) {
        _ if name.is_empty() => Ok(None),
        Some(value) => Ok(Some(value)),
        None => refused(format!("no value is called {}", String::from_utf8_lossy(name))),
    };
    node.inputs.iter().map(value).collect()
}

/// Check the number of inputs and outputs, and the attributes: names, and numbers of AttributeProto.AttributeType.
fn check(node: &Node, inputs: &[usize], outputs: &[usize], attributes: &[(&str, u64)]) -> Result<(), Failure> {
    if !inputs.contains(&node.inputs.len()) || !outputs.is_empty() && !outputs.contains(&node.outputs.len()) {
        let (ins, outs) = (node.inputs.len(), node.outputs.len());
        return refused(format!("{} does not have {ins} inputs and {outs} outputs", node.operator));
    }
    for (name, attribute) in &node.attributes {
        if !attributes.contains(&(name, attribute.kind)) {
            return refused(format!("{} has no attribute {name} of type {}", node.operator, attribute.kind));
        }
    }
    Ok(())
}

/// Return the opset in which Identity began to accept an element type; `None` if no version accepts it.
fn identity_since(element_type: u8) -> Option<i64> {
    Some(match element_type {
        0..=15 => 1,
        16 => 13,
        17..=20 => 19,
        21 | 22 => 21,
        23 => 23,
        24 => 24,
        25 | 26 => 25,
        _ => return None,
    })
}

fn identity(node: &Node, inputs: &[Option<&Value>], opset: i64) -> Result<Vec<Value>, Failure> {
    check(node, &[1], &[1], &[])?;
    let Some(value) = inputs[0] else { return refused("Identity needs its input") };
    let since = match value {
        Value::Tensor { element_type, .. } => identity_since(*element_type),
        Value::Strings { .. } => Some(1),
        Value::Sequence(_) => Some(14),
        Value::Optional(_) => Some(16),
        Value::Map(..) => None,
    };
    match since {
        Some(since) if since <= opset => Ok(vec![value.clone()]),
        Some(since) => refused(format!("Identity accepts this type only since opset {since}, not in opset {opset}")),
        None => refused("Identity does not accept this type"),
    }
}

/// Return the index of the element of a broadcast input for each element of the output.
fn broadcast(shape: &[i64], out: &[i64]) -> Vec<usize> {
    let mut indices = vec![0];
    for (place, &dim) in out.iter().enumerate() {
        let own = (place + shape.len()).checked_sub(out.len()).map_or(1, |place| shape[place]);
        let next =
            |index: &usize| (0..dim).map(|i| index * own as usize + if own == 1 { 0 } else { i as usize }).collect();
        indices = indices.iter().flat_map(|index| -> Vec<usize> { next(index) }).collect();
    }
    indices
}

fn broadcast_shape(a: &[i64], b: &[i64]) -> Result<Vec<i64>, Failure> {
    let rank = a.len().max(b.len());
    let dim = |shape: &[i64], place: usize| (place + shape.len()).checked_sub(rank).map_or(1, |place| shape[place]);
    let together = |place| match (dim(a, place), dim(b, place)) {
        (left, right) if left == right || right == 1 => Ok(left),
        (1, right) => Ok(right),
        _ => refused(format!("shapes {a:?} and {b:?} cannot be broadcast")),
    };
    (0..rank).map(together).collect()
}

/// Add the elements at pairs of indices, as bytes.
macro_rules! added {
    ($number:ty, $add:expr, $a:expr, $b:expr, $pairs:expr) => {{
        const SIZE: usize = size_of::<$number>();
        let read = |data: &[u8], index: usize| {
            let mut bytes = [0; SIZE];
            bytes.copy_from_slice(&data[SIZE * index..SIZE * (index + 1)]);
            <$number>::from_le_bytes(bytes)
        };
        $pairs.flat_map(|(i, j)| $add(read($a, i), read($b, j)).to_le_bytes()).collect()
    }};
}

fn add(node: &Node, inputs: &[Option<&Value>], opset: i64) -> Result<Vec<Value>, Failure> {
    if opset < 7 {
        return unsupported(format!("opset {opset} has Add-6 or an earlier version"), "older than Add-7");
    }
    check(node, &[2], &[1], &[])?;
    let (
        Some(Value::Tensor { element_type, shape: a_shape, data: a }),
        Some(Value::Tensor { element_type: other, shape: b_shape, data: b }),
    ) = (inputs[0], inputs[1])
    else {
        return refused("Add needs two tensors of numbers");
    };
    if element_type != other {
        return refused(format!("Add needs equal element types, not {element_type} and {other}"));
    }
    let shape = broadcast_shape(a_shape, b_shape)?;
    let pairs = broadcast(a_shape, &shape).into_iter().zip(broadcast(b_shape, &shape));
    let since = match element_type {
        2..=5 => 14,
        16 => 13,
        _ => 7,
    };
    let data = match element_type {
        _ if opset < since => return refused(format!("Add accepts this element type only since opset {since}")),
        1 => added!(f32, std::ops::Add::add, a, b, pairs),
        2 => added!(u8, u8::wrapping_add, a, b, pairs),
        3 => added!(i8, i8::wrapping_add, a, b, pairs),
        4 => added!(u16, u16::wrapping_add, a, b, pairs),
        5 => added!(i16, i16::wrapping_add, a, b, pairs),
        6 => added!(i32, i32::wrapping_add, a, b, pairs),
        7 => added!(i64, i64::wrapping_add, a, b, pairs),
        11 => added!(f64, std::ops::Add::add, a, b, pairs),
        12 => added!(u32, u32::wrapping_add, a, b, pairs),
        13 => added!(u64, u64::wrapping_add, a, b, pairs),
        10 | 16 => return unsupported(format!("Add of {}", type_name(*element_type).unwrap_or("")), "no kernel"),
        _ => return refused(format!("Add does not accept {}", type_name(*element_type).unwrap_or("this type"))),
    };
    Ok(vec![Value::Tensor { element_type: *element_type, shape, data }])
}

fn split(node: &Node, inputs: &[Option<&Value>], opset: i64) -> Result<Vec<Value>, Failure> {
    const INT: u64 = 2;
    const INTS: u64 = 7;
    if opset < 2 {
        return unsupported("opset 1 has Split-1", "older than Split-2");
    }
    match opset {
        2..=12 => check(node, &[1], &[], &[("axis", INT), ("split", INTS)])?,
        13..=17 => check(node, &[1, 2], &[], &[("axis", INT)])?,
        _ => check(node, &[1, 2], &[], &[("axis", INT), ("num_outputs", INT)])?,
    }
    let shape = match inputs[0] {
        Some(Value::Strings { shape, .. }) => shape,
        Some(Value::Tensor { element_type, shape, .. }) => {
            if *element_type > 16 || (*element_type == 16 && opset < 13) {
                return refused(format!("Split does not accept {}", type_name(*element_type).unwrap_or("this type")));
            }
            shape
        }
        _ => return refused("Split needs a tensor"),
    };
    let ints = |name: &str| node.attributes.get(name).map(|attribute| attribute.ints.clone());
    let axis = ints("axis").and_then(|axis| axis.first().copied()).unwrap_or(0);
    let rank = shape.len() as i64;
    if axis >= rank || axis < -rank || (axis < 0 && opset < 11) {
        return refused(format!("axis {axis} is not an axis of a tensor of rank {rank}"));
    }
    let axis = axis.rem_euclid(rank) as usize;
    let listed = match inputs.get(1) {
        Some(Some(Value::Tensor { element_type: 7, shape, data })) if shape.len() == 1 => {
            let number = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().unwrap_or_default());
            Some(data.chunks(8).map(number).collect())
        }
        Some(Some(_)) => return refused("split has to be an int64 tensor of rank 1"),
        _ => ints("split"),
    };
    let parts = ints("num_outputs").and_then(|parts| parts.first().copied());
    if opset >= 18 && listed.is_some() == parts.is_some() {
        return refused("Split needs one of split and num_outputs");
    }
    let lengths = lengths(listed, parts, node.outputs.len(), shape[axis])?;
    let inner: usize = elements(&shape[axis + 1..]).unwrap_or(0);
    let mut start = 0;
    let mut outputs = Vec::new();
    for length in lengths {
        let mut part = shape.clone();
        part[axis] = length;
        let (row, from, size) = (inner * shape[axis] as usize, inner * start, inner * length as usize);
        outputs.push(match inputs[0] {
            Some(Value::Strings { strings, .. }) => {
                Value::Strings { shape: part, strings: cut(strings, row, from, size) }
            }
            Some(Value::Tensor { element_type, data, .. }) => {
                let width = type_bits(*element_type).unwrap_or(8) / 8;
                let data = cut(data, width * row, width * from, width * size);
                Value::Tensor { element_type: *element_type, shape: part, data }
            }
            _ => return refused("Split needs a tensor"),
        });
        start += length as usize;
    }
    Ok(outputs)
}

/// Return the lengths of the parts along the axis.
fn lengths(listed: Option<Vec<i64>>, parts: Option<i64>, count: usize, dim: i64) -> Result<Vec<i64>, Failure> {
    if count == 0 {
        return refused("Split has no output");
    }
    if let Some(lengths) = listed {
        let sum =
            lengths.iter().try_fold(0_i64, |sum, &length| if length < 0 { None } else { sum.checked_add(length) });
        if lengths.len() != count || sum != Some(dim) {
            return refused(format!("the lengths {lengths:?} do not divide a dimension of {dim} into {count} parts"));
        }
        return Ok(lengths);
    }
    let Some(parts) = parts else {
        if dim % count as i64 != 0 {
            return refused(format!("a dimension of {dim} cannot be divided into {count} equal parts"));
        }
        return Ok(vec![dim / count as i64; count]);
    };
    if parts < 1 || count as i64 > parts {
        return refused(format!("num_outputs is {parts}, but the node has {count} outputs"));
    }
    let chunk = dim / parts + i64::from(dim % parts != 0);
    let last = dim - chunk * (parts - 1);
    if last < 0 {
        return refused(format!("a dimension of {dim} has no {parts} parts of which only the last is smaller"));
    }
    Ok((1..=count as i64).map(|part| if part < parts { chunk } else { last }).collect())
}

/// Return `size` items of each row, beginning at `from`.
fn cut<T: Clone>(items: &[T], row: usize, from: usize, size: usize) -> Vec<T> {
    let rows = if row == 0 { [].chunks(1) } else { items.chunks(row) };
    rows.flat_map(|row| row[from..from + size].to_vec()).collect()
}
