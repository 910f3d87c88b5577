// SPDX-License-Identifier: Apache-2.0
//! Reads packs: the cases of onnx-conformance in one zip archive, which `docs/formats.md` describes.

use std::collections::BTreeMap;

use crate::inflate::inflate;
use crate::json::Json;
use crate::wire::described;
use crate::{malformed, Malformed};

/// The newest version of the format that is known here.
pub const VERSION: i64 = 1;
/// Bytes of a member that are read.
pub const MAX_MEMBER: usize = 1 << 30;

const END: &[u8] = b"PK\x05\x06";
const ENTRY: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";
const STORED: usize = 0;
const DEFLATED: usize = 8;

/// Where a member of the archive is.
struct Member {
    method: usize,
    checksum: usize,
    compressed: usize,
    size: usize,
    offset: usize,
}

/// An archive in memory, and its index.
pub struct Pack {
    bytes: Vec<u8>,
    members: BTreeMap<Vec<u8>, Member>,
    index: Json,
}

/// The cases of one operator, and the bytes of their models and tensors.
pub struct Operator {
    /// A case for each line of `cases.ndjson`.
    pub cases: Vec<Json>,
    /// `data.bin`
    pub data: Vec<u8>,
}

impl Pack {
    /// Open a pack.
    ///
    /// # Errors
    /// The bytes are no pack, or are damaged; this also applies to the functions below.
    pub fn open(bytes: Vec<u8>) -> Result<Pack, Malformed> {
        let members = directory(&bytes)?;
        let mut pack = Pack { bytes, members, index: Json::Null };
        pack.index = Json::parse(&pack.member(b"index.json")?)?;
        if pack.index.text("format")? != b"onnx-conformance-cases" {
            return malformed("the archive is not a pack of onnx-conformance");
        }
        let version = pack.index.integer("version")?;
        if version > VERSION {
            return malformed(format!("the pack has version {version} of the format; expected at most {VERSION}"));
        }
        Ok(pack)
    }

    /// Return the entries of the operators in `index.json`.
    pub fn operators(&self) -> Result<&[Json], Malformed> {
        self.index.array("operators")
    }

    /// Return the cases of an entry of `operators()`.
    pub fn read(&self, operator: &Json) -> Result<Operator, Malformed> {
        let member = |key: &str| match operator.get(key) {
            Some(item) => self.member(item.text("name")?),
            None => malformed(format!("an operator of index.json has no field \"{key}\"")),
        };
        let lines = member("cases")?;
        let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        Ok(Operator { cases: lines.map(Json::parse).collect::<Result<_, _>>()?, data: member("data")? })
    }

    /// Return the bytes of a described tensor, which is not one of strings.
    ///
    /// Most are in `data`, the bytes of the operator. A large one is a member of its own, named by its digest.
    ///
    /// # Errors
    /// The bytes are not there.
    pub fn tensor(&self, value: &Json, data: &[u8]) -> Result<Vec<u8>, Malformed> {
        let size = described(value)?.2;
        if value.get("large").is_none() {
            return Ok(slice(data, value.size("at", MAX_MEMBER)?, size)?.to_vec());
        }
        let name = [b"large/", value.text("large")?].concat();
        let content = self.member(&name)?;
        if content.len() == size {
            Ok(content)
        } else {
            malformed(format!("{} has {} bytes; expected {size}", String::from_utf8_lossy(&name), content.len()))
        }
    }

    fn member(&self, name: &[u8]) -> Result<Vec<u8>, Malformed> {
        let shown = String::from_utf8_lossy(name);
        let Some(member) = self.members.get(name) else {
            return malformed(format!("the archive has no member {shown}"));
        };
        if member.size > MAX_MEMBER {
            return malformed(format!("{shown} has {} bytes; expected at most {MAX_MEMBER}", member.size));
        }
        let local = slice(&self.bytes, member.offset, 30)?;
        if &local[..4] != LOCAL {
            return malformed(format!("the header of {shown} is damaged"));
        }
        let begin = member.offset + 30 + number(local, 26, 2) + number(local, 28, 2);
        let data = slice(&self.bytes, begin, member.compressed)?;
        let content = match member.method {
            STORED if data.len() == member.size => data.to_vec(),
            DEFLATED => inflate(data, member.size).map_err(|Malformed(why)| Malformed(format!("{shown}: {why}")))?,
            _ => return malformed(format!("{shown} is not compressed with deflate")),
        };
        if crc32(&content) as usize == member.checksum {
            Ok(content)
        } else {
            malformed(format!("{shown} was changed: it does not have the checksum of the archive"))
        }
    }
}

/// Return the bytes of an object with `at` and `size`, such as the model of a case.
///
/// # Errors
/// They are not in `data`.
pub fn piece<'a>(described: &Json, data: &'a [u8]) -> Result<&'a [u8], Malformed> {
    slice(data, described.size("at", MAX_MEMBER)?, described.size("size", MAX_MEMBER)?)
}

fn slice(bytes: &[u8], at: usize, size: usize) -> Result<&[u8], Malformed> {
    match at.checked_add(size).and_then(|end| bytes.get(at..end)) {
        Some(found) => Ok(found),
        None => malformed(format!("{size} bytes at position {at} are not in the {} bytes that there are", bytes.len())),
    }
}

/// Return a little-endian number of up to four bytes.
fn number(bytes: &[u8], at: usize, size: usize) -> usize {
    bytes[at..at + size].iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte))
}

/// Read the central directory at the end of an archive.
fn directory(bytes: &[u8]) -> Result<BTreeMap<Vec<u8>, Member>, Malformed> {
    let first = bytes.len().saturating_sub(22 + 0xFFFF);
    let end = bytes[first..].windows(22).rposition(|window| window.starts_with(END)).map(|at| first + at);
    let Some(end) = end else {
        return malformed("the file is no zip archive, or its end is missing");
    };
    let (count, mut at) = (number(bytes, end + 10, 2), number(bytes, end + 16, 4));
    if count == 0xFFFF || at == 0xFFFF_FFFF {
        return malformed("the archive has the format of zip64, which packs do not need");
    }
    let mut members = BTreeMap::new();
    for _ in 0..count {
        let entry = slice(bytes, at, 46)?;
        if &entry[..4] != ENTRY {
            return malformed("the directory of the archive is damaged");
        }
        let name = slice(bytes, at + 46, number(entry, 28, 2))?;
        at += 46 + name.len() + number(entry, 30, 2) + number(entry, 32, 2);
        let member = Member {
            method: number(entry, 10, 2),
            checksum: number(entry, 16, 4),
            compressed: number(entry, 20, 4),
            size: number(entry, 24, 4),
            offset: number(entry, 42, 4),
        };
        members.insert(name.to_vec(), member);
    }
    Ok(members)
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut table = [0_u32; 256];
    for (index, entry) in table.iter_mut().enumerate() {
        *entry = (0..8).fold(index as u32, |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 });
    }
    !bytes.iter().fold(!0, |crc, &byte| crc >> 8 ^ table[((crc ^ u32::from(byte)) & 0xFF) as usize])
}
