//! DN text to its parts.
//!
//! Parses RFC 4514 with the leniencies of RFC 2253 and RFC 1779 that servers are expected to keep.
//! These are spaces around `,` `=` `+`, `;` between RDNs, and values in quotes. RFC 1779's prefix
//! `OID.` is refused, as slapd does it.

use std::borrow::Cow;

use fulgurite_ber::{Reader, Tag};

use super::{Ava, Rdn, ValueForm};

/// Why text is not a DN. Positions are bytes from the start of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DnError {
    /// No, or no possible, attribute type.
    #[error("no valid attribute type at position {0}")]
    Attribute(usize),
    /// An attribute type that no `=` follows.
    #[error("\"=\" is missing at position {0}")]
    MissingEquals(usize),
    /// A character that has to be escaped.
    #[error("the character at position {0} must be escaped")]
    Unescaped(usize),
    /// A backslash before something that needs none.
    #[error(
        "\"\\\" at position {0} must be followed by a special character or two hexadecimal digits"
    )]
    Escape(usize),
    /// A hex string that is not the encoding of one value.
    #[error("the hex string at position {0} is not an encoded value")]
    Hex(usize),
    /// A quoted value that does not end, or something else behind it.
    #[error("the quoted value at position {0} does not end properly")]
    Quote(usize),
    /// More than the one RDN that may stand here.
    #[error("a single RDN ends at position {0}")]
    NotSingle(usize),
    /// No RDN where one has to stand.
    #[error("an RDN cannot be empty")]
    EmptyRdn,
}

/// Parses a DN: its RDNs, leaf first. Empty text is the root, of no RDNs.
///
/// Values without escapes are borrowed.
/// # Errors
/// [`DnError`], all of which mean `invalidDNSyntax`.
pub fn parse(text: &str) -> Result<Vec<Rdn<'_>>, DnError> {
    let mut scanner = Scanner { text, at: 0 };
    scanner.skip_spaces();
    let mut rdns = Vec::new();
    if scanner.peek().is_none() {
        // Spaces alone are no name, not even the empty one.
        return match text.is_empty() {
            true => Ok(rdns),
            false => Err(DnError::EmptyRdn),
        };
    }
    loop {
        rdns.push(scanner.rdn()?);
        // An RDN ends at a separator or at the end of the text.
        if scanner.peek().is_none() {
            return Ok(rdns);
        }
        scanner.at += 1;
    }
}

/// Parses exactly one RDN.
///
/// # Errors
/// [`DnError`]; [`DnError::NotSingle`] for a DN of several RDNs.
pub fn parse_rdn(text: &str) -> Result<Rdn<'_>, DnError> {
    let mut scanner = Scanner { text, at: 0 };
    scanner.skip_spaces();
    if scanner.peek().is_none() {
        return Err(DnError::EmptyRdn);
    }
    let rdn = scanner.rdn()?;
    match scanner.peek() {
        None => Ok(rdn),
        Some(_) => Err(DnError::NotSingle(scanner.at)),
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// Returns the text from `from` to the scanner's position. Both are at ASCII characters or
    /// ends.
    fn since(&self, from: usize) -> &'a str {
        self.text.get(from..self.at).unwrap_or_default()
    }

    /// Reads one RDN; stops at a separator or at the end.
    fn rdn(&mut self) -> Result<Rdn<'a>, DnError> {
        let mut avas = Vec::with_capacity(1);
        loop {
            avas.push(self.ava()?);
            match self.peek() {
                Some(b'+') => self.at += 1,
                _ => return Ok(avas),
            }
        }
    }

    /// Reads `type=value`; stops at `+`, `,`, `;` or the end.
    fn ava(&mut self) -> Result<Ava<'a>, DnError> {
        self.skip_spaces();
        let attribute = self.attribute_type()?;
        self.skip_spaces();
        if self.peek() != Some(b'=') {
            return Err(DnError::MissingEquals(self.at));
        }
        self.at += 1;
        self.skip_spaces();
        let (value, form) = match self.peek() {
            Some(b'#') => self.hex_value()?,
            Some(b'"') => (self.quoted_value()?, ValueForm::Plain),
            _ => (self.plain_value()?, ValueForm::Plain),
        };
        Ok(Ava {
            attribute,
            value,
            form,
        })
    }

    fn attribute_type(&mut self) -> Result<&'a str, DnError> {
        let from = self.at;
        while self
            .peek()
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'))
        {
            self.at += 1;
        }
        let name = self.since(from);
        if is_descriptor(name) || is_numeric_oid(name) {
            Ok(name)
        } else {
            Err(DnError::Attribute(from))
        }
    }

    fn plain_value(&mut self) -> Result<Cow<'a, [u8]>, DnError> {
        let from = self.at;
        let mut unescaped: Option<Vec<u8>> = None;
        // Spaces before this belong to the value even if it ends there.
        let mut keep = 0;
        loop {
            match self.peek() {
                None | Some(b',' | b';' | b'+') => break,
                Some(b'"' | b'<' | b'>' | 0) => return Err(DnError::Unescaped(self.at)),
                Some(b'\\') => {
                    let so_far = self.since(from);
                    let value = unescaped.get_or_insert_with(|| so_far.as_bytes().to_vec());
                    value.push(self.escape()?);
                    keep = value.len();
                }
                Some(byte) => {
                    self.at += 1;
                    if let Some(value) = &mut unescaped {
                        value.push(byte);
                    }
                }
            }
        }
        Ok(match unescaped {
            None => Cow::Borrowed(self.since(from).trim_end_matches(' ').as_bytes()),
            Some(mut value) => {
                while value.len() > keep && value.last() == Some(&b' ') {
                    value.pop();
                }
                Cow::Owned(value)
            }
        })
    }

    /// Reads a backslash and what it escapes.
    fn escape(&mut self) -> Result<u8, DnError> {
        let at = self.at;
        let behind = self.text.as_bytes().get(at + 1..).unwrap_or_default();
        match *behind {
            [
                byte @ (b' ' | b'"' | b'#' | b'+' | b',' | b';' | b'<' | b'=' | b'>' | b'\\'),
                ..,
            ] => {
                self.at += 2;
                Ok(byte)
            }
            [high, low, ..] => {
                self.at += 3;
                hex_byte(high, low).ok_or(DnError::Escape(at))
            }
            _ => Err(DnError::Escape(at)),
        }
    }

    /// Reads a value in quotes (RFC 1779): only quotes and backslashes are special in it.
    fn quoted_value(&mut self) -> Result<Cow<'a, [u8]>, DnError> {
        let from = self.at;
        self.at += 1;
        let mut value = Vec::new();
        loop {
            match self.peek() {
                None => return Err(DnError::Quote(from)),
                Some(b'"') => break,
                Some(b'\\') => value.push(self.escape()?),
                Some(byte) => {
                    self.at += 1;
                    value.push(byte);
                }
            }
        }
        self.at += 1;
        self.skip_spaces();
        match self.peek() {
            None | Some(b',' | b';' | b'+') => Ok(Cow::Owned(value)),
            Some(_) => Err(DnError::Quote(from)),
        }
    }

    /// Reads `#` and the hexadecimal digits of a BER element.
    fn hex_value(&mut self) -> Result<(Cow<'a, [u8]>, ValueForm), DnError> {
        let from = self.at;
        self.at += 1;
        while self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
            self.at += 1;
        }
        let digits = self.since(from + 1);
        self.skip_spaces();
        if !matches!(self.peek(), None | Some(b',' | b';' | b'+')) {
            return Err(DnError::Hex(from));
        }
        let element: Option<Vec<u8>> = digits
            .as_bytes()
            .chunks(2)
            .map(|pair| match *pair {
                [high, low] => hex_byte(high, low),
                _ => None,
            })
            .collect();
        let element = element.ok_or(DnError::Hex(from))?;
        let mut reader = Reader::new(&element);
        let (tag, content) = reader.element().map_err(|_| DnError::Hex(from))?;
        reader.end().map_err(|_| DnError::Hex(from))?;
        Ok(if is_string(tag) {
            (Cow::Owned(content.to_vec()), ValueForm::Plain)
        } else {
            (Cow::Owned(element), ValueForm::Ber)
        })
    }
}

/// Returns true for ASN.1 types whose contents are the LDAP form of the value.
/// These are OCTET STRING, UTF8String, and the string types that are subsets of ASCII. OCTET
/// STRING, UTF8String, and the string types that are subsets of ASCII.
fn is_string(tag: Tag) -> bool {
    [
        Tag::OCTET_STRING,
        Tag(0x0c),
        Tag(0x12),
        Tag(0x13),
        Tag(0x16),
        Tag(0x1a),
    ]
    .contains(&tag)
}

fn is_descriptor(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic) && !bytes.contains(&b'.')
}

fn is_numeric_oid(name: &str) -> bool {
    name.split('.').all(|arc| {
        !arc.is_empty()
            && arc.bytes().all(|byte| byte.is_ascii_digit())
            && (arc == "0" || !arc.starts_with('0'))
    })
}

fn hex_byte(high: u8, low: u8) -> Option<u8> {
    let high = char::from(high).to_digit(16)?;
    let low = char::from(low).to_digit(16)?;
    u8::try_from(high << 4 | low).ok()
}
