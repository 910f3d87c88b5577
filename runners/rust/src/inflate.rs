// SPDX-License-Identifier: Apache-2.0
//! Decompresses deflate (RFC 1951), the compression of zip archives.

use crate::{malformed, Malformed};

const MAX_BITS: usize = 15;
const LENGTHS: [(u16, u8); 29] = [
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 0),
    (11, 1),
    (13, 1),
    (15, 1),
    (17, 1),
    (19, 2),
    (23, 2),
    (27, 2),
    (31, 2),
    (35, 3),
    (43, 3),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 4),
    (115, 4),
    (131, 5),
    (163, 5),
    (195, 5),
    (227, 5),
    (258, 0),
];
const DISTANCES: [(u16, u8); 30] = [
    (1, 0),
    (2, 0),
    (3, 0),
    (4, 0),
    (5, 1),
    (7, 1),
    (9, 2),
    (13, 2),
    (17, 3),
    (25, 3),
    (33, 4),
    (49, 4),
    (65, 5),
    (97, 5),
    (129, 6),
    (193, 6),
    (257, 7),
    (385, 7),
    (513, 8),
    (769, 8),
    (1025, 9),
    (1537, 9),
    (2049, 10),
    (3073, 10),
    (4097, 11),
    (6145, 11),
    (8193, 12),
    (12289, 12),
    (16385, 13),
    (24577, 13),
];
/// The order in which a block lists the lengths of the code for code lengths.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// Bits of a stream, the lowest of each byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
    held: u32,
    count: u32,
}

impl Bits<'_> {
    fn take(&mut self, wanted: u32) -> Result<usize, Malformed> {
        while self.count < wanted {
            let Some(&byte) = self.bytes.get(self.at) else {
                return malformed("the compressed data end too early");
            };
            self.held |= u32::from(byte) << self.count;
            self.count += 8;
            self.at += 1;
        }
        let bits = self.held & ((1 << wanted) - 1);
        self.held >>= wanted;
        self.count -= wanted;
        Ok(bits as usize)
    }
}

/// A canonical Huffman code: how many codes each length has, and their symbols in order.
struct Code {
    counts: [usize; MAX_BITS + 1],
    symbols: Vec<u16>,
}

impl Code {
    /// Return the code of these lengths; 0 is a symbol without a code.
    fn new(lengths: &[u8]) -> Result<Code, Malformed> {
        let mut counts = [0; MAX_BITS + 1];
        for &length in lengths {
            counts[usize::from(length)] += 1;
        }
        counts[0] = 0;
        let mut left = 1_i64;
        for &count in &counts[1..] {
            left = 2 * left - count as i64;
            if left < 0 {
                return malformed("the compressed data have a code with too many symbols");
            }
        }
        let mut symbols: Vec<u16> = (0..lengths.len() as u16).filter(|&i| lengths[usize::from(i)] > 0).collect();
        symbols.sort_by_key(|&i| lengths[usize::from(i)]);
        Ok(Code { counts, symbols })
    }

    fn next(&self, bits: &mut Bits) -> Result<usize, Malformed> {
        let (mut code, mut first, mut index) = (0, 0, 0);
        for &count in &self.counts[1..] {
            code |= bits.take(1)?;
            if code < first + count {
                return Ok(usize::from(self.symbols[index + code - first]));
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        malformed("the compressed data have an unknown code")
    }
}

/// Return the decompressed bytes, which must be exactly `size`.
///
/// # Errors
/// The bytes are not deflate, or decompress to another number of bytes.
pub fn inflate(bytes: &[u8], size: usize) -> Result<Vec<u8>, Malformed> {
    let mut bits = Bits { bytes, at: 0, held: 0, count: 0 };
    let mut out = Vec::new();
    loop {
        let last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut out, size)?,
            1 => {
                let lengths: Vec<u8> = (0..288)
                    .map(|i| match i {
                        0..=143 => 8,
                        144..=255 => 9,
                        256..=279 => 7,
                        _ => 8,
                    })
                    .collect();
                compressed(&mut bits, &mut out, size, &Code::new(&lengths)?, &Code::new(&[5; 30])?)?;
            }
            2 => {
                let (literals, distances) = codes(&mut bits)?;
                compressed(&mut bits, &mut out, size, &literals, &distances)?;
            }
            _ => return malformed("the compressed data have an unknown kind of block"),
        }
        if last {
            break;
        }
    }
    if out.len() == size {
        Ok(out)
    } else {
        malformed(format!("the data have {} bytes; expected {size}", out.len()))
    }
}

fn too_many<T>(size: usize) -> Result<T, Malformed> {
    malformed(format!("the data have over {size} bytes"))
}

fn stored(bits: &mut Bits, out: &mut Vec<u8>, size: usize) -> Result<(), Malformed> {
    bits.held = 0; // The rest of a byte is not used, and no whole byte is held.
    bits.count = 0;
    let (length, inverse) = (bits.take(16)?, bits.take(16)?);
    if length != !inverse & 0xFFFF {
        return malformed("the compressed data have a damaged block");
    }
    let Some(data) = bits.bytes.get(bits.at..bits.at + length) else {
        return malformed("the compressed data end too early");
    };
    if out.len() + length > size {
        return too_many(size);
    }
    out.extend_from_slice(data);
    bits.at += length;
    Ok(())
}

/// Read the codes of literals and distances at the beginning of a block.
fn codes(bits: &mut Bits) -> Result<(Code, Code), Malformed> {
    let (literals, distances, listed) = (bits.take(5)? + 257, bits.take(5)? + 1, bits.take(4)? + 4);
    let mut of_lengths = [0_u8; 19];
    for &place in &ORDER[..listed] {
        of_lengths[place] = bits.take(3)? as u8;
    }
    let code = Code::new(&of_lengths)?;
    let mut lengths: Vec<u8> = Vec::new();
    while lengths.len() < literals + distances {
        let (value, times) = match code.next(bits)? {
            16 => match lengths.last() {
                Some(&previous) => (previous, 3 + bits.take(2)?),
                None => return malformed("the compressed data repeat a length that does not exist"),
            },
            17 => (0, 3 + bits.take(3)?),
            18 => (0, 11 + bits.take(7)?),
            length => (length as u8, 1),
        };
        lengths.extend(std::iter::repeat(value).take(times));
    }
    if lengths.len() > literals + distances || literals > 286 || distances > 30 {
        return malformed("the compressed data have too many lengths");
    }
    Ok((Code::new(&lengths[..literals])?, Code::new(&lengths[literals..])?))
}

fn compressed(
    bits: &mut Bits,
    out: &mut Vec<u8>,
    size: usize,
    literals: &Code,
    distances: &Code,
) -> Result<(), Malformed> {
    loop {
        let symbol = literals.next(bits)?;
        if symbol == 256 {
            return Ok(());
        }
        if symbol < 256 {
            if out.len() >= size {
                return too_many(size);
            }
            out.push(symbol as u8);
            continue;
        }
        let (Some(&(base, more)), length_end) = (LENGTHS.get(symbol - 257), out.len()) else {
            return malformed("the compressed data have an unknown length");
        };
        let length = usize::from(base) + bits.take(u32::from(more))?;
        let Some(&(base, more)) = DISTANCES.get(distances.next(bits)?) else {
            return malformed("the compressed data have an unknown distance");
        };
        let distance = usize::from(base) + bits.take(u32::from(more))?;
        if distance > length_end {
            return malformed("the compressed data refer to bytes before their begin");
        }
        if length_end + length > size {
            return too_many(size);
        }
        for _ in 0..length {
            out.push(out[out.len() - distance]);
        }
    }
}
