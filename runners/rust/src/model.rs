// SPDX-License-Identifier: Apache-2.0
//! Reads the fields of a serialized ModelProto that the example runtime needs; `onnx.proto` defines their numbers.

use std::collections::BTreeMap;

use crate::wire::{packed_size, Value, STRING};
use crate::{malformed, Malformed};

/// A model: its opset, its nodes and its constants.
#[derive(Debug, Default)]
pub struct Model {
    /// The opset of the domain ai.onnx; 0 if the model does not import it.
    pub opset: i64,
    /// Whether it has a graph.
    pub has_graph: bool,
    /// Whether it has functions, or sparse or external initializers.
    pub has_more: bool,
    /// The nodes, in their order.
    pub nodes: Vec<Node>,
    /// The initializers by name.
    pub initializers: BTreeMap<Vec<u8>, Value>,
}

/// A node.
#[derive(Debug, Default)]
pub struct Node {
    /// The operator.
    pub operator: String,
    /// Its domain; empty for ai.onnx.
    pub domain: String,
    /// The names of the inputs; an empty one is omitted.
    pub inputs: Vec<Vec<u8>>,
    /// The names of the outputs.
    pub outputs: Vec<Vec<u8>>,
    /// The attributes by name; those of other types than INT and INTS have no numbers.
    pub attributes: BTreeMap<String, Attribute>,
}

/// An attribute.
#[derive(Debug, Default)]
pub struct Attribute {
    /// The number of AttributeProto.AttributeType: 2 for INT, 7 for INTS.
    pub kind: u64,
    /// The integers.
    pub ints: Vec<i64>,
}

/// A field of a message: a number, or bytes.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    fn number(&self) -> u64 {
        match self {
            Field::Number(number) => *number,
            Field::Bytes(_) => 0,
        }
    }

    fn bytes(&self) -> &'a [u8] {
        match self {
            Field::Number(_) => &[],
            Field::Bytes(bytes) => bytes,
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    /// Append the integers of a repeated field, packed or not.
    fn append_to(&self, numbers: &mut Vec<i64>) -> Result<(), Malformed> {
        match self {
            Field::Number(number) => numbers.push(*number as i64),
            Field::Bytes(bytes) => {
                let mut at = 0;
                while at < bytes.len() {
                    numbers.push(varint(bytes, &mut at)? as i64);
                }
            }
        }
        Ok(())
    }
}

fn varint(bytes: &[u8], at: &mut usize) -> Result<u64, Malformed> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let Some(&byte) = bytes.get(*at) else { break };
        *at += 1;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    malformed("the model has a number without end")
}

/// Return the fields of a message with their numbers.
fn fields(bytes: &[u8]) -> Result<Vec<(u64, Field<'_>)>, Malformed> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let key = varint(bytes, &mut at)?;
        let size = match key & 7 {
            0 => {
                found.push((key >> 3, Field::Number(varint(bytes, &mut at)?)));
                continue;
            }
            1 => 8,
            2 => usize::try_from(varint(bytes, &mut at)?).unwrap_or(usize::MAX),
            5 => 4,
            other => return malformed(format!("the model has a field of wire type {other}")),
        };
        let Some(data) = at.checked_add(size).and_then(|end| bytes.get(at..end)) else {
            return malformed("the model ends inside a field");
        };
        at += size;
        found.push((key >> 3, Field::Bytes(data)));
    }
    Ok(found)
}

/// Read a serialized ModelProto.
///
/// # Errors
/// The bytes are no protobuf message.
pub fn read(bytes: &[u8]) -> Result<Model, Malformed> {
    let mut model = Model::default();
    for (number, field) in fields(bytes)? {
        match number {
            7 => {
                model.has_graph = true;
                read_graph(field.bytes(), &mut model)?;
            }
            8 => {
                let (mut domain, mut version) = (String::new(), 0);
                for (number, field) in fields(field.bytes())? {
                    match number {
                        1 => domain = field.text(),
                        2 => version = field.number() as i64,
                        _ => (),
                    }
                }
                if domain.is_empty() || domain == "ai.onnx" {
                    model.opset = version;
                }
            }
            25 => model.has_more = true,
            _ => (),
        }
    }
    Ok(model)
}

fn read_graph(bytes: &[u8], model: &mut Model) -> Result<(), Malformed> {
    for (number, field) in fields(bytes)? {
        match number {
            1 => model.nodes.push(read_node(field.bytes())?),
            5 => match read_tensor(field.bytes())? {
                Some((name, value)) => drop(model.initializers.insert(name, value)),
                None => model.has_more = true,
            },
            15 => model.has_more = true,
            _ => (),
        }
    }
    Ok(())
}

fn read_node(bytes: &[u8]) -> Result<Node, Malformed> {
    let mut node = Node::default();
    for (number, field) in fields(bytes)? {
        match number {
            1 => node.inputs.push(field.bytes().to_vec()),
            2 => node.outputs.push(field.bytes().to_vec()),
            4 => node.operator = field.text(),
            5 => {
                let (mut name, mut attribute) = (String::new(), Attribute::default());
                for (number, field) in fields(field.bytes())? {
                    match number {
                        1 => name = field.text(),
                        3 | 8 => field.append_to(&mut attribute.ints)?,
                        20 => attribute.kind = field.number(),
                        _ => (),
                    }
                }
                node.attributes.insert(name, attribute);
            }
            7 if field.bytes() != b"ai.onnx" => node.domain = field.text(),
            _ => (),
        }
    }
    Ok(node)
}

/// Return the name and the value of a TensorProto; `None` if its elements are in a field that is not read here.
fn read_tensor(bytes: &[u8]) -> Result<Option<(Vec<u8>, Value)>, Malformed> {
    let (mut shape, mut numbers, mut strings) = (Vec::new(), Vec::new(), Vec::new());
    let (mut element_type, mut name, mut raw, mut readable) = (0, Vec::new(), None, true);
    for (number, field) in fields(bytes)? {
        match number {
            1 => field.append_to(&mut shape)?,
            2 => element_type = u8::try_from(field.number()).unwrap_or(0),
            4 => raw = Some(field.bytes().to_vec()), // float_data, which is packed: the bytes of raw_data
            6 => strings.push(field.bytes().to_vec()),
            7 => field.append_to(&mut numbers)?,
            8 => name = field.bytes().to_vec(),
            9 => raw = Some(field.bytes().to_vec()),
            5 | 10 | 11 => readable = false,
            14 if field.number() != 0 => readable = false,
            _ => (),
        }
    }
    if element_type == STRING {
        return Ok(readable.then_some((name, Value::Strings { shape, strings })));
    }
    let data = raw.unwrap_or_else(|| numbers.iter().flat_map(|number: &i64| number.to_le_bytes()).collect());
    let fits = !shape.iter().any(|&dim| dim < 0) && packed_size(element_type, &shape) == Some(data.len());
    Ok((readable && fits).then_some((name, Value::Tensor { element_type, shape, data })))
}
