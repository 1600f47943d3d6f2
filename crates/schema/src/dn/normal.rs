//! Normal forms of names without building a [`Dn`](super::Dn): DN-valued attributes are compared by
//! them.

use super::error::DnError;
use super::scan::{RawAva, Scan};
use crate::matching::{AsciiProfile, Case, InvalidValue, Truth};
use crate::registry::{AttributeType, Schema};
use crate::syntax::Kind;

/// Writes names in normal form, one attribute and value at a time.
#[derive(Debug, Default)]
pub(super) struct NormalWriter {
    pub(super) text: String,
    /// Where the current RDN starts; `None` between two of them.
    rdn_start: Option<usize>,
    /// True if the current RDN has several attributes.
    is_joined: bool,
}

impl NormalWriter {
    /// Makes a writer with memory for a normal form of this number of bytes.
    pub(super) fn with_capacity(bytes: usize) -> NormalWriter {
        NormalWriter {
            text: String::with_capacity(bytes),
            ..NormalWriter::default()
        }
    }

    /// Resolves and appends one attribute and value; sorts the RDN when it is the last one of it.
    /// Returns the type, and the value if it is also its own pretty form.
    pub(super) fn push<'s, 'v>(
        &mut self,
        schema: &'s Schema,
        ava: &'v RawAva<'_>,
    ) -> Result<(&'s AttributeType, Option<&'v str>), DnError> {
        let attribute = schema
            .attribute(ava.attribute)
            .ok_or_else(|| DnError::UnknownType(ava.attribute.to_owned()))?;
        let plain = plain_text(attribute, &ava.value);
        if let Some(plain) = &plain {
            self.start(attribute);
            plain.write_normal(&mut self.text);
        } else {
            let invalid = || DnError::InvalidValue(attribute.name().to_owned());
            attribute
                .syntax
                .validate(schema, &ava.value)
                .map_err(|_| invalid())?;
            let normal = schema
                .normal_value(attribute.index, &ava.value)
                .ok_or_else(invalid)?;
            self.start(attribute);
            escape_into(&mut self.text, &normal, Escapes::Normal);
        }
        if !ava.joined {
            self.finish_rdn()?;
        }
        let pretty = plain.filter(|plain| plain.is_pretty);
        Ok((attribute, pretty.map(|plain| plain.text)))
    }

    /// Writes the separator and the type before a value.
    fn start(&mut self, attribute: &AttributeType) {
        if !self.text.is_empty() {
            self.text
                .push(if self.rdn_start.is_some() { '+' } else { ',' });
        }
        match self.rdn_start {
            None => self.rdn_start = Some(self.text.len()),
            Some(_) => self.is_joined = true,
        }
        self.text.push_str(&attribute.key_name);
        self.text.push('=');
    }

    /// Sorts the parts of a multi-valued RDN; a type may occur once.
    fn finish_rdn(&mut self) -> Result<(), DnError> {
        let start = self.rdn_start.take();
        if let Some(start) = start.filter(|_| std::mem::take(&mut self.is_joined)) {
            let rdn = self.text.split_off(start);
            let mut parts: Vec<&str> = rdn.split('+').collect();
            parts.sort_unstable();
            let kind = |part: &'_ str| part.split('=').next().unwrap_or_default().to_owned();
            if parts.windows(2).any(|w| kind(w[0]) == kind(w[1])) {
                return Err(DnError::Malformed(
                    "an attribute type occurs twice in an RDN".to_owned(),
                ));
            }
            self.text.push_str(&parts.join("+"));
        }
        Ok(())
    }
}

/// A value that is its own normal form but for case, and needs no escapes there.
struct PlainText<'v> {
    text: &'v str,
    /// True if the normal form is in lower case.
    fold: bool,
    /// True if the value is its own pretty form.
    is_pretty: bool,
}

impl PlainText<'_> {
    fn write_normal(&self, out: &mut String) {
        let start = out.len();
        out.push_str(self.text);
        if self.fold
            && let Some(value) = out.get_mut(start..)
        {
            value.make_ascii_lowercase();
        }
    }
}

/// Returns a value that is plain. Most values in names are.
fn plain_text<'v>(attribute: &AttributeType, value: &'v [u8]) -> Option<PlainText<'v>> {
    let is_text = matches!(
        attribute.syntax.kind,
        Kind::DirectoryString | Kind::Ia5String
    );
    let case = attribute.equality?.text_case().filter(|_| is_text)?;
    let seen = value.iter().fold(0, |seen, b| seen | SEEN[*b as usize]);
    if seen & REFUSED != 0 || value.is_empty() {
        return None;
    }
    if seen & SPACE != 0 && AsciiProfile::of(value)?.odd_spaces {
        return None;
    }
    Some(PlainText {
        text: std::str::from_utf8(value).ok()?,
        fold: seen & UPPER != 0 && case == Case::Ignore,
        is_pretty: seen & EQUALS == 0,
    })
}

const UPPER: u8 = 1;
const SPACE: u8 = 2;
/// Not printable ASCII, or escaped in normal names.
const REFUSED: u8 = 4;
/// Escaped in pretty names.
const EQUALS: u8 = 8;

/// The class of each byte of a value in a name.
const SEEN: [u8; 256] = {
    let mut seen = [REFUSED; 256];
    let mut byte = 0x20_u8;
    while byte < 0x7f {
        seen[byte as usize] = match byte {
            b'A'..=b'Z' => UPPER,
            b' ' => SPACE,
            b'=' => EQUALS,
            b',' | b'+' | b'"' | b'\\' | b'<' | b'>' | b';' | b'#' => REFUSED,
            _ => 0,
        };
        byte += 1;
    }
    seen
};

/// Returns the normal form of a name in the common form, and `None` for other names. The common
/// form has text values of printable ASCII without escapes, one to a level, without spaces around
/// them.
fn plain_name(schema: &Schema, value: &[u8]) -> Option<String> {
    let mut normal = String::with_capacity(value.len());
    for level in value.split(|b| *b == b',') {
        let equals = level.iter().position(|b| *b == b'=')?;
        let (kind, rest) = level.split_at_checked(equals)?;
        let attribute = schema.attribute_by_bytes(kind)?;
        let plain = plain_text(attribute, rest.get(1..)?)?;
        if !normal.is_empty() {
            normal.push(',');
        }
        normal.push_str(&attribute.key_name);
        normal.push('=');
        plain.write_normal(&mut normal);
    }
    Some(normal)
}

/// Returns the normal form of a DN-valued attribute's value.
pub(crate) fn normal_value(schema: &Schema, value: &[u8]) -> Result<String, InvalidValue> {
    if let Some(normal) = plain_name(schema, value) {
        return Ok(normal);
    }
    scanned_name(schema, value)
}

/// Makes a normal form by way of the grammar.
fn scanned_name(schema: &Schema, value: &[u8]) -> Result<String, InvalidValue> {
    let text = std::str::from_utf8(value).map_err(|_| InvalidValue)?;
    let mut writer = NormalWriter::with_capacity(value.len());
    let mut scan = Scan::new(text);
    while let Some(ava) = scan.next().map_err(|_| InvalidValue)? {
        writer.push(schema, &ava).map_err(|_| InvalidValue)?;
    }
    Ok(writer.text)
}

/// Compares a value with a normal name level by level, without allocation. `None` when the value is
/// written in a way that needs full normalisation: escapes, quotes, multi-valued RDNs, anything but
/// ASCII.
pub(crate) fn matches_in_place(schema: &Schema, normal: &[u8], value: &[u8]) -> Option<bool> {
    if !value.iter().all(|b| {
        (0x20..0x7f).contains(b) && !matches!(b, b'\\' | b'"' | b'+' | b'#' | b';' | b'<' | b'>')
    }) {
        return None;
    }
    if value.is_empty() {
        return Some(normal.is_empty());
    }
    let mut expected = normal.split(|&b| b == b',');
    for level in value.split(|&b| b == b',') {
        let at = memchr::memchr(b'=', level)?;
        let attribute = schema.attribute_by_bytes(level.get(..at)?.trim_ascii())?;
        let text = level.get(at + 1..)?.trim_ascii();
        let Some(expected) = expected.next() else {
            return Some(false);
        };
        let Some(expected) = expected
            .strip_prefix(attribute.key_name.as_bytes())
            .and_then(|rest| rest.strip_prefix(b"="))
        else {
            return Some(false);
        };
        if memchr::memchr(b'\\', expected).is_some() {
            return None;
        }
        let same = match attribute.equality {
            None => Truth::from(expected == text),
            Some(rule) => rule.matches(schema, expected, text),
        };
        match same {
            Truth::True => {}
            Truth::False => return Some(false),
            Truth::Undefined => return None,
        }
    }
    Some(expected.next().is_none())
}

/// The choice of bytes that are written as hexadecimal pairs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// Those RFC 4514 asks for, and `=`, as other servers do.
    Pretty,
    /// These and every `#`, so that a normal name holds neither `,` `+` nor `#` but as a separator.
    Normal,
}

/// Appends a value to a name's text.
pub(super) fn escape_into(out: &mut String, value: &[u8], escapes: Escapes) {
    if is_plain(value)
        && let Ok(plain) = std::str::from_utf8(value)
    {
        return out.push_str(plain);
    }
    let last = value.len().saturating_sub(1);
    let mut at = 0;
    for chunk in value.utf8_chunks() {
        for c in chunk.valid().chars() {
            let special = match c {
                ',' | '+' | '"' | '\\' | '<' | '>' | ';' => true,
                '\u{0}' => true,
                // At an end they would be taken for space around the value.
                '\u{1}'..='\u{1f}' | '\u{7f}' => {
                    escapes == Escapes::Normal || at == 0 || at == last
                }
                '=' => escapes == Escapes::Pretty,
                ' ' => at == 0 || at == last,
                '#' => at == 0 || escapes == Escapes::Normal,
                _ => false,
            };
            if special {
                push_hex(out, c as u8, escapes);
            } else {
                out.push(c);
            }
            at += c.len_utf8();
        }
        for &b in chunk.invalid() {
            push_hex(out, b, escapes);
            at += 1;
        }
    }
}

/// Returns true if nothing in a value is ever escaped: most values, seen at a glance.
fn is_plain(value: &[u8]) -> bool {
    let plain = |b: &u8| {
        let special = matches!(
            b,
            b',' | b'+' | b'"' | b'\\' | b'<' | b'>' | b';' | b'=' | b'#'
        );
        (0x20..0x7f).contains(b) && !special
    };
    value.iter().all(plain) && !value.starts_with(b" ") && !value.ends_with(b" ")
}

fn push_hex(out: &mut String, b: u8, escapes: Escapes) {
    let digits: &[u8; 16] = if escapes == Escapes::Pretty {
        b"0123456789ABCDEF"
    } else {
        b"0123456789abcdef"
    };
    out.push('\\');
    for nibble in [b >> 4, b & 15] {
        out.push(digits.get(usize::from(nibble)).copied().unwrap_or(b'0') as char);
    }
}

/// Makes the normal form of one attribute and value of a name. An unknown type and an invalid value
/// stay as they are. Names in certificates were not made for this directory.
pub(crate) fn normal_ava(schema: &Schema, kind: &str, value: &[u8]) -> String {
    let attribute = schema.attribute(kind);
    let mut text = attribute.map_or_else(|| kind.to_ascii_lowercase(), |a| a.key_name.clone());
    text.push('=');
    let normal = attribute.and_then(|attribute| schema.normal_value(attribute.index, value));
    escape_into(
        &mut text,
        normal.as_deref().unwrap_or(value),
        Escapes::Normal,
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn plain_and_scanned_names_agree(
            name in prop::collection::vec(prop::sample::select(vec![
                "cn", "UID", "dc", "2.5.4.3", "x", "serialNumber", "=", "=", ",", ",", "+", "a", "B b", " ", "#", "\\2c", "\"", ";", "é",
            ]), 0..12),
        ) {
            let schema = Schema::standard();
            let name = name.concat();
            if let Some(plain) = plain_name(&schema, name.as_bytes()) {
                prop_assert_eq!(scanned_name(&schema, name.as_bytes()), Ok(plain));
            }
        }

        #[test]
        fn plain_and_escaped_values_agree(
            value in "[ aB=#,+\"\\\\<>;~\u{7f}\u{1}é]{0,6}",
            name in prop::sample::select(vec!["cn", "uid", "dc", "mail", "c", "serialNumber", "x500UniqueIdentifier"]),
        ) {
            let schema = Schema::standard();
            let attribute = schema.attribute(name).unwrap();
            let bytes = value.as_bytes();
            if let Some(plain) = plain_text(attribute, bytes) {
                prop_assert!(attribute.syntax.validate(&*schema, bytes).is_ok());
                let mut written = String::new();
                plain.write_normal(&mut written);
                let mut escaped = String::new();
                let normal = schema.normal_value(attribute.index, bytes).unwrap();
                escape_into(&mut escaped, &normal, Escapes::Normal);
                prop_assert_eq!(written, escaped);
                let mut pretty = String::new();
                let pretty_value = schema.pretty_value(attribute.index, bytes);
                escape_into(&mut pretty, &pretty_value, Escapes::Pretty);
                prop_assert_eq!(plain.is_pretty, pretty == plain.text);
            }
            for escapes in [Escapes::Normal, Escapes::Pretty] {
                let mut whole = String::new();
                escape_into(&mut whole, bytes, escapes);
                // A space at the end that is none of the value's keeps the fast way away.
                let mut slow = String::new();
                escape_into(&mut slow, &[bytes, b"\xff"].concat(), escapes);
                if is_plain(bytes) {
                    prop_assert_eq!(slow, whole + if escapes == Escapes::Normal { "\\ff" } else { "\\FF" });
                }
            }
        }
    }
}
