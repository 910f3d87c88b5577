// SPDX-License-Identifier: Apache-2.0
//! JSON, as the wire format and packs use it: a field occurs once, and texts are bytes.
//!
//! Texts are bytes because a string of a tensor may not be UTF-8. The escapes `\udc80` to `\udcff`, without another
//! half of a surrogate pair, are such bytes (Python calls this surrogateescape).

use crate::{malformed, Malformed};

/// Arrays and objects in each other that are read.
pub const MAX_NESTING: usize = 160;

/// Values of JSON that one text may have.
pub const MAX_PARTS: usize = 1 << 21;

/// A value of JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number without fraction and exponent that fits 64 bits.
    Integer(i64),
    /// Any other number.
    Fraction,
    /// A text, as UTF-8 and bytes that are not UTF-8.
    Text(Vec<u8>),
    /// `[...]`
    Array(Vec<Json>),
    /// `{...}`, with the fields in their order.
    Object(Vec<(Vec<u8>, Json)>),
}

impl Json {
    /// Return the value of a text of JSON.
    ///
    /// # Errors
    /// The text is not JSON, nests too deeply, or an object has a field twice.
    pub fn parse(text: &[u8]) -> Result<Json, Malformed> {
        let mut reader = Reader { text, at: 0, parts: 0 };
        let value = reader.value(0)?;
        reader.blanks();
        if reader.at == text.len() {
            Ok(value)
        } else {
            reader.fail("something follows the value")
        }
    }

    /// Return a field of an object.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(fields) => fields.iter().find(|(name, _)| name == key.as_bytes()).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Return a field that must be an array.
    ///
    /// # Errors
    /// It is missing, or another kind of value; this also applies to the functions below.
    pub fn array(&self, key: &str) -> Result<&[Json], Malformed> {
        match self.get(key) {
            Some(Json::Array(items)) => Ok(items),
            _ => malformed(format!("the field \"{key}\" has to be an array")),
        }
    }

    /// Return a field that must be a text.
    pub fn text(&self, key: &str) -> Result<&[u8], Malformed> {
        match self.get(key) {
            Some(Json::Text(text)) => Ok(text),
            _ => malformed(format!("the field \"{key}\" has to be a string")),
        }
    }

    /// Return a field that must be an integer.
    pub fn integer(&self, key: &str) -> Result<i64, Malformed> {
        match self.get(key) {
            Some(Json::Integer(number)) => Ok(*number),
            _ => malformed(format!("the field \"{key}\" has to be an integer")),
        }
    }

    /// Return a field that must be an integer from 0 to `most`.
    pub fn size(&self, key: &str, most: usize) -> Result<usize, Malformed> {
        let number = self.integer(key)?;
        match usize::try_from(number) {
            Ok(size) if size <= most => Ok(size),
            _ => malformed(format!("the field \"{key}\" is {number}; expected 0 to {most}")),
        }
    }
}

/// Append a text as JSON; a byte that is not UTF-8 becomes `\udc80` to `\udcff`.
pub fn write_text(to: &mut Vec<u8>, text: &[u8]) {
    to.push(b'"');
    for chunk in text.utf8_chunks() {
        for byte in chunk.valid().bytes() {
            match byte {
                b'"' | b'\\' => to.extend([b'\\', byte]),
                0..=0x1f => to.extend(format!("\\u{byte:04x}").bytes()),
                _ => to.push(byte),
            }
        }
        for byte in chunk.invalid() {
            to.extend(format!("\\udc{byte:02x}").bytes());
        }
    }
    to.push(b'"');
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    parts: usize,
}

impl Reader<'_> {
    fn fail<T>(&self, problem: &str) -> Result<T, Malformed> {
        malformed(format!("not valid JSON: {problem} at byte {}", self.at))
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.text[self.at..].starts_with(word.as_bytes());
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn value(&mut self, nesting: usize) -> Result<Json, Malformed> {
        self.blanks();
        self.parts += 1;
        match self.peek() {
            Some(_) if self.parts > MAX_PARTS => self.fail("too many values"),
            None => self.fail("an unexpected end"),
            Some(b'{' | b'[') if nesting >= MAX_NESTING => self.fail("too many arrays and objects in each other"),
            Some(b'{') => self.object(nesting),
            Some(b'[') => self.list(nesting),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            Some(_) if self.word("null") => Ok(Json::Null),
            Some(_) if self.word("true") => Ok(Json::Bool(true)),
            Some(_) if self.word("false") => Ok(Json::Bool(false)),
            Some(_) => self.number(),
        }
    }

    /// Return whether another member follows, after the comma in front of it.
    fn more(&mut self, close: &str, first: bool) -> Result<bool, Malformed> {
        self.blanks();
        if self.word(close) {
            return Ok(false);
        }
        if first || self.word(",") {
            self.blanks();
            return Ok(true);
        }
        self.fail("a comma or the end of a list is expected")
    }

    fn list(&mut self, nesting: usize) -> Result<Json, Malformed> {
        let mut items = Vec::new();
        self.at += 1;
        while self.more("]", items.is_empty())? {
            items.push(self.value(nesting + 1)?);
        }
        Ok(Json::Array(items))
    }

    fn object(&mut self, nesting: usize) -> Result<Json, Malformed> {
        let mut fields: Vec<(Vec<u8>, Json)> = Vec::new();
        self.at += 1;
        while self.more("}", fields.is_empty())? {
            if self.peek() != Some(b'"') {
                return self.fail("the name of a field is expected");
            }
            let key = self.string()?;
            if fields.iter().any(|(name, _)| *name == key) {
                return self.fail("a field that occurs twice in an object");
            }
            if fields.len() >= 256 {
                return self.fail("too many fields in an object");
            }
            self.blanks();
            if !self.word(":") {
                return self.fail("a colon is expected");
            }
            fields.push((key, self.value(nesting + 1)?));
        }
        Ok(Json::Object(fields))
    }

    fn digits(&mut self) -> bool {
        let begin = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at > begin
    }

    fn number(&mut self) -> Result<Json, Malformed> {
        let begin = self.at;
        self.word("-");
        let digits = self.at;
        if !self.digits() {
            return self.fail("an unexpected character");
        }
        if self.text[digits] == b'0' && self.at - digits > 1 {
            return self.fail("a number that begins with 0");
        }
        let mut fraction = false;
        if self.word(".") {
            fraction = true;
            if !self.digits() {
                return self.fail("digits are expected after the point");
            }
        }
        if self.word("e") || self.word("E") {
            fraction = true;
            if !self.word("+") {
                self.word("-");
            }
            if !self.digits() {
                return self.fail("digits are expected in the exponent");
            }
        }
        let text = std::str::from_utf8(&self.text[begin..self.at]).unwrap_or_default();
        Ok(match text.parse() {
            Ok(number) if !fraction => Json::Integer(number),
            _ => Json::Fraction,
        })
    }

    fn hex(&mut self) -> Result<u32, Malformed> {
        let digits = self.text.get(self.at..self.at + 4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let code = digits.and_then(|digits| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match code {
            Some(code) => {
                self.at += 4;
                Ok(code)
            }
            None => self.fail("four hexadecimal digits are expected after \\u"),
        }
    }

    /// Read the digits of an escape `\uXXXX`, and its other half.
    fn escaped(&mut self, to: &mut Vec<u8>) -> Result<(), Malformed> {
        let mut code = self.hex()?;
        if (0xD800..0xDC00).contains(&code) && self.word("\\u") {
            let low = self.hex()?;
            if !(0xDC00..0xE000).contains(&low) {
                return self.fail("half of a surrogate pair");
            }
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
        match (code, char::from_u32(code)) {
            (0xDC80..=0xDCFF, _) => to.push((code - 0xDC00) as u8),
            (_, Some(character)) => to.extend(character.encode_utf8(&mut [0; 4]).bytes()),
            _ => return self.fail("half of a surrogate pair"),
        }
        Ok(())
    }

    fn string(&mut self) -> Result<Vec<u8>, Malformed> {
        let mut text = Vec::new();
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.iter().take_while(|&&byte| byte >= 0x20 && byte != b'"' && byte != b'\\').count();
            if std::str::from_utf8(&rest[..plain]).is_err() {
                return self.fail("bytes that are not UTF-8");
            }
            text.extend_from_slice(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => {
                    self.at += 1;
                    let letter = self.peek().unwrap_or(0);
                    self.at += 1;
                    match letter {
                        b'"' | b'\\' | b'/' => text.push(letter),
                        b'b' => text.push(8),
                        b'f' => text.push(12),
                        b'n' => text.push(b'\n'),
                        b'r' => text.push(b'\r'),
                        b't' => text.push(b'\t'),
                        b'u' => self.escaped(&mut text)?,
                        _ => return self.fail("an unknown escape"),
                    }
                }
                Some(_) => return self.fail("a control character in a text"),
                None => return self.fail("a text without end"),
            }
        }
    }
}
