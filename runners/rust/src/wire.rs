// SPDX-License-Identifier: Apache-2.0
//! The wire format between the harness and a runner: `backends/README.md`, from the side of the runner.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::os::fd::{AsFd, AsRawFd};

use crate::json::{write_text, Json};
use crate::{malformed, Malformed};

/// The number of this version of the format.
pub const PROTOCOL: i64 = 1;
/// Bytes of a header line.
pub const MAX_HEADER: usize = 64 << 20;
/// Bytes of a payload.
pub const MAX_PAYLOAD: usize = 1 << 30;
/// Values in values.
pub const MAX_DEPTH: usize = 32;
/// Dimensions of a tensor.
pub const MAX_RANK: usize = 64;
/// The element type of strings.
pub const STRING: u8 = 8;
/// The element type of truth values.
pub const BOOL: u8 = 9;

/// By number of TensorProto.DataType: the name, and the bits of an element in `raw_data`.
const ELEMENT_TYPES: [(&str, usize); 29] = [
    ("", 0),
    ("float", 32),
    ("uint8", 8),
    ("int8", 8),
    ("uint16", 16),
    ("int16", 16),
    ("int32", 32),
    ("int64", 64),
    ("string", 0),
    ("bool", 8),
    ("float16", 16),
    ("double", 64),
    ("uint32", 32),
    ("uint64", 64),
    ("complex64", 64),
    ("complex128", 128),
    ("bfloat16", 16),
    ("float8e4m3fn", 8),
    ("float8e4m3fnuz", 8),
    ("float8e5m2", 8),
    ("float8e5m2fnuz", 8),
    ("uint4", 4),
    ("int4", 4),
    ("float4e2m1", 4),
    ("float8e8m0", 8),
    ("uint2", 2),
    ("int2", 2),
    ("float6e2m3", 6),
    ("float6e3m2", 6),
];

/// Return the name of an element type, such as "float16".
pub fn type_name(element_type: u8) -> Option<&'static str> {
    ELEMENT_TYPES.get(usize::from(element_type)).map(|(name, _)| *name).filter(|name| !name.is_empty())
}

/// Return the bits of an element in `raw_data`; 0 for strings.
pub fn type_bits(element_type: u8) -> Option<usize> {
    type_name(element_type).map(|_| ELEMENT_TYPES[usize::from(element_type)].1)
}

/// Return how many elements a shape has; `None` if they do not fit 63 bits.
pub fn elements(shape: &[i64]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    let count = shape.iter().try_fold(1_i64, |count, &dim| count.checked_mul(dim))?;
    usize::try_from(count).ok()
}

/// Return how many bytes a tensor has in `raw_data`.
pub fn packed_size(element_type: u8, shape: &[i64]) -> Option<usize> {
    let bits = elements(shape)?.checked_mul(type_bits(element_type)?)?;
    Some(bits.div_ceil(8))
}

/// A value of ONNX.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A tensor of any type except strings.
    Tensor {
        /// The number of TensorProto.DataType.
        element_type: u8,
        /// The dimensions.
        shape: Vec<i64>,
        /// The elements, as in TensorProto.raw_data.
        data: Vec<u8>,
    },
    /// A tensor of strings.
    Strings {
        /// The dimensions.
        shape: Vec<i64>,
        /// The elements in row-major order: UTF-8, or any other bytes.
        strings: Vec<Vec<u8>>,
    },
    /// A sequence.
    Sequence(Vec<Value>),
    /// A map: a tensor of rank 1 with the keys, and one value for each.
    Map(Box<Value>, Vec<Value>),
    /// An optional.
    Optional(Option<Box<Value>>),
}

/// A request of the harness to run a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Returned in the answer.
    pub id: i64,
    /// A serialized ModelProto.
    pub model: Vec<u8>,
    /// Files with external data next to the model.
    pub files: Vec<(Vec<u8>, Vec<u8>)>,
    /// If present, inputs with which the same session first runs the model.
    pub earlier: Option<Vec<(Vec<u8>, Value)>>,
    /// Names and values of graph inputs.
    pub inputs: Vec<(Vec<u8>, Value)>,
    /// The names of the outputs to return.
    pub outputs: Vec<Vec<u8>>,
}

/// An error of a runtime.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The model or its inputs are invalid: a message.
    Refused(String),
    /// The runtime lacks something: a message, and the missing feature in a few words.
    Unsupported(String, &'static str),
}

/// Return the stream for answers. From now on, everything that is printed goes to standard error.
///
/// # Errors
/// The standard output is closed.
pub fn answers() -> io::Result<File> {
    extern "C" {
        fn dup2(from: i32, to: i32) -> i32; // The standard library links the C library, which has it.
    }
    let copy = io::stdout().as_fd().try_clone_to_owned()?;
    // SAFETY: both descriptors are open, and nothing has been printed yet.
    if unsafe { dup2(io::stderr().as_raw_fd(), io::stdout().as_raw_fd()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(File::from(copy))
}

/// Return the next request, or `None` at the end of the stream.
///
/// # Errors
/// The message does not follow the format, or the stream ends inside it.
pub fn read(input: &mut impl BufRead) -> Result<Option<Request>, Malformed> {
    let failed = |error: io::Error| Malformed(format!("the standard input cannot be read: {error}"));
    let mut line = Vec::new();
    input.by_ref().take(MAX_HEADER as u64 + 1).read_until(b'\n', &mut line).map_err(failed)?;
    match line.pop() {
        None => return Ok(None),
        Some(b'\n') => (),
        Some(_) => return malformed(format!("a header line without end, or with over {MAX_HEADER} bytes")),
    }
    let header = Json::parse(&line)?;
    if header.text("kind")? != b"run" {
        return malformed("a request of another kind than \"run\"");
    }
    let size = header.size("payload", MAX_PAYLOAD)?;
    let mut payload = Vec::new(); // It grows as bytes arrive, because the number may be wrong.
    input.by_ref().take(size as u64).read_to_end(&mut payload).map_err(failed)?;
    if payload.len() < size {
        return malformed(format!("the input ends after {} of the {size} bytes of a payload", payload.len()));
    }
    let mut decoder = Decoder { payload: &payload, at: 0 };
    let model = decoder.take(header.size("model", MAX_PAYLOAD)?, "the model")?.to_vec();
    let mut files = Vec::new();
    for file in if header.get("files").is_some() { header.array("files")? } else { &[] } {
        files.push((file.text("name")?.to_vec(), decoder.take(file.size("size", MAX_PAYLOAD)?, "a file")?.to_vec()));
    }
    let earlier = match header.get("earlier") {
        None | Some(Json::Null) => None,
        Some(_) => Some(decoder.inputs(header.array("earlier")?)?),
    };
    let inputs = decoder.inputs(header.array("inputs")?)?;
    if decoder.at != payload.len() {
        return malformed(format!("{} bytes of a payload follow the last tensor", payload.len() - decoder.at));
    }
    let name = |item: &Json| match item {
        Json::Text(name) => Ok(name.clone()),
        _ => malformed("the name of an output is not a string"),
    };
    let outputs = header.array("outputs")?.iter().map(name).collect::<Result<_, _>>()?;
    Ok(Some(Request { id: header.integer("id")?, model, files, earlier, inputs, outputs }))
}

struct Decoder<'a> {
    payload: &'a [u8],
    at: usize,
}

impl Decoder<'_> {
    fn take(&mut self, size: usize, what: &str) -> Result<&[u8], Malformed> {
        let left = self.payload.len() - self.at;
        if size > left {
            return malformed(format!("{what} needs {size} bytes, but {left} bytes are left of the payload"));
        }
        self.at += size;
        Ok(&self.payload[self.at - size..self.at])
    }

    fn inputs(&mut self, listed: &[Json]) -> Result<Vec<(Vec<u8>, Value)>, Malformed> {
        let mut inputs = Vec::new();
        for item in listed {
            let Some(value) = item.get("value") else { return malformed("an input has no value") };
            inputs.push((item.text("name")?.to_vec(), self.value(value, 0)?));
        }
        Ok(inputs)
    }

    fn values(&mut self, listed: &[Json], depth: usize) -> Result<Vec<Value>, Malformed> {
        listed.iter().map(|item| self.value(item, depth)).collect()
    }

    fn value(&mut self, json: &Json, depth: usize) -> Result<Value, Malformed> {
        if depth > MAX_DEPTH {
            return malformed(format!("values are over {MAX_DEPTH} deep in each other"));
        }
        match json.text("kind")? {
            b"tensor" => self.tensor(json),
            b"sequence" => Ok(Value::Sequence(self.values(json.array("items")?, depth + 1)?)),
            b"map" => {
                let keys = self.value(json.get("keys").unwrap_or(&Json::Null), depth + 1)?;
                let values = self.values(json.array("values")?, depth + 1)?;
                check_keys(&keys, values.len())?;
                Ok(Value::Map(Box::new(keys), values))
            }
            b"optional" => match json.get("item") {
                None | Some(Json::Null) => Ok(Value::Optional(None)),
                Some(item) => Ok(Value::Optional(Some(Box::new(self.value(item, depth + 1)?)))),
            },
            _ => malformed("a value of another kind than tensor, sequence, map or optional"),
        }
    }

    fn tensor(&mut self, json: &Json) -> Result<Value, Malformed> {
        let (element_type, shape, size) = described(json)?;
        if element_type == STRING {
            let strings = strings(json, elements(&shape).unwrap_or(0))?;
            return Ok(Value::Strings { shape, strings });
        }
        let data = self.take(size, "a tensor")?.to_vec();
        if element_type == BOOL && data.iter().any(|&byte| byte > 1) {
            return malformed("an element of a bool tensor is neither 0 nor 1");
        }
        Ok(Value::Tensor { element_type, shape, data })
    }
}

/// Return the element type, the shape and the bytes of a described tensor.
///
/// # Errors
/// The description does not follow the format.
pub fn described(json: &Json) -> Result<(u8, Vec<i64>, usize), Malformed> {
    let number = json.integer("type")?;
    let element_type = u8::try_from(number).ok().filter(|&number| type_name(number).is_some());
    let Some(element_type) = element_type else {
        return malformed(format!("a tensor has the element type {number}; expected a number of TensorProto.DataType"));
    };
    let listed = json.array("shape")?;
    if listed.len() > MAX_RANK {
        return malformed(format!("a tensor has {} dimensions; expected at most {MAX_RANK}", listed.len()));
    }
    let dim = |item: &Json| match item {
        Json::Integer(dim) if *dim >= 0 => Ok(*dim),
        _ => malformed("a dimension of a tensor is not an integer from 0 to 2**63 - 1"),
    };
    let shape: Vec<i64> = listed.iter().map(dim).collect::<Result<_, _>>()?;
    match packed_size(element_type, &shape) {
        Some(size) => Ok((element_type, shape, size)),
        None => malformed("a tensor has over 2**63 bytes"),
    }
}

/// Return the elements of a described tensor of strings.
///
/// # Errors
/// They are not as many as the shape has.
pub fn strings(json: &Json, count: usize) -> Result<Vec<Vec<u8>>, Malformed> {
    let listed = json.array("strings")?;
    if listed.len() != count {
        return malformed(format!("a tensor of {count} strings has {}", listed.len()));
    }
    let text = |item: &Json| match item {
        Json::Text(text) => Ok(text.clone()),
        _ => malformed("an element of a tensor of strings is not a string"),
    };
    listed.iter().map(text).collect()
}

fn check_keys(keys: &Value, values: usize) -> Result<(), Malformed> {
    let (shape, mut listed): (_, Vec<&[u8]>) = match keys {
        Value::Strings { shape, strings } => (shape, strings.iter().map(Vec::as_slice).collect()),
        Value::Tensor { element_type, shape, data } if matches!(element_type, 2..=7 | 12 | 13) => {
            (shape, data.chunks(type_bits(*element_type).unwrap_or(8) / 8).collect())
        }
        _ => return malformed("the keys of a map have to be a tensor of rank 1, of strings or integers"),
    };
    if shape.len() != 1 || listed.len() != values {
        return malformed(format!("a map has keys of rank {} and {values} values", shape.len()));
    }
    listed.sort_unstable();
    if listed.windows(2).any(|pair| pair[0] == pair[1]) {
        return malformed("a key of a map occurs twice");
    }
    Ok(())
}

fn finish(mut header: Vec<u8>, payload: &[u8]) -> Vec<u8> {
    header.extend(format!(",\"payload\":{}}}\n", payload.len()).bytes());
    header.extend_from_slice(payload);
    header
}

fn begin(kind: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    let mut header = format!("{{\"kind\":\"{kind}\"").into_bytes();
    for (key, text) in fields {
        header.extend(format!(",\"{key}\":").bytes());
        write_text(&mut header, text.as_bytes());
    }
    header
}

/// Return the first message: the texts of `fields`, such as runtime and version, and the accepted fields of requests.
pub fn hello(fields: &[(&str, &str)], accepts: &[&str]) -> Vec<u8> {
    let mut header = begin("hello", fields);
    let accepts = accepts.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(",");
    header.extend(format!(",\"protocol\":{PROTOCOL},\"accepts\":[{accepts}]").bytes());
    finish(header, &[])
}

/// Return the message that answers a request.
///
/// # Arguments
/// * `id` - of the request
/// * `result` - the outputs in the order of the request, or the error of the runtime
/// * `seconds` - the time of the runtime, including loading the model
pub fn answer(id: i64, result: &Result<Vec<Value>, Failure>, seconds: f64) -> Vec<u8> {
    let (mut header, mut payload) = match result {
        Ok(_) => (begin("answer", &[]), Vec::new()),
        Err(Failure::Refused(message)) => (begin("refused", &[("error", "Refused"), ("message", message)]), Vec::new()),
        Err(Failure::Unsupported(message, reason)) => {
            let fields = [("error", "Unsupported"), ("message", message.as_str()), ("reason", reason)];
            (begin("unsupported", &fields), Vec::new())
        }
    };
    header.extend(format!(",\"id\":{id},\"seconds\":{seconds:.6}").bytes());
    if let Ok(outputs) = result {
        header.extend(b",\"outputs\":");
        describe_all(outputs, &mut header, &mut payload);
    }
    finish(header, &payload)
}

fn describe_all(values: &[Value], header: &mut Vec<u8>, payload: &mut Vec<u8>) {
    header.push(b'[');
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            header.push(b',');
        }
        describe(value, header, payload);
    }
    header.push(b']');
}

fn describe(value: &Value, header: &mut Vec<u8>, payload: &mut Vec<u8>) {
    match value {
        Value::Tensor { element_type, shape, data } => {
            header.extend(format!("{{\"kind\":\"tensor\",\"type\":{element_type},\"shape\":{shape:?}").bytes());
            payload.extend_from_slice(data);
        }
        Value::Strings { shape, strings } => {
            header.extend(format!("{{\"kind\":\"tensor\",\"type\":{STRING},\"shape\":{shape:?},\"strings\":[").bytes());
            for (index, text) in strings.iter().enumerate() {
                header.extend(if index > 0 { &b","[..] } else { b"" });
                write_text(header, text);
            }
            header.push(b']');
        }
        Value::Sequence(items) => {
            header.extend(b"{\"kind\":\"sequence\",\"items\":");
            describe_all(items, header, payload);
        }
        Value::Map(keys, values) => {
            header.extend(b"{\"kind\":\"map\",\"keys\":");
            describe(keys, header, payload);
            header.extend(b",\"values\":");
            describe_all(values, header, payload);
        }
        Value::Optional(None) => header.extend(b"{\"kind\":\"optional\",\"item\":null"),
        Value::Optional(Some(item)) => {
            header.extend(b"{\"kind\":\"optional\",\"item\":");
            describe(item, header, payload);
        }
    }
    header.push(b'}');
}
