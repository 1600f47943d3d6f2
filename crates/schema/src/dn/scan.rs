//! Reads the string form of a name piece by piece, in place (RFC 4514 with the leniencies of RFC
//! 1779 and 2253).

use std::borrow::Cow;

/// Where the text broke the grammar, and what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    pub(super) at: usize,
    pub(super) expected: &'static str,
}

/// One attribute and value, not yet resolved.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RawAva<'t> {
    /// Name or OID.
    pub(super) attribute: &'t str,
    /// Unescaped bytes.
    pub(super) value: Cow<'t, [u8]>,
    /// True if another one of the same RDN follows.
    pub(super) joined: bool,
}

/// Iterates over the attributes and values of a name, leaf first.
pub(super) struct Scan<'t> {
    text: &'t str,
    at: usize,
    /// True if a separator promised another one.
    pending: bool,
}

impl<'t> Scan<'t> {
    pub(super) fn new(text: &'t str) -> Scan<'t> {
        Scan {
            text,
            at: 0,
            pending: false,
        }
    }

    pub(super) fn next(&mut self) -> Result<Option<RawAva<'t>>, Malformed> {
        let begins = self.at == 0;
        self.skip_spaces();
        if self.peek().is_none() && !self.pending {
            // Spaces alone are no name, not even the empty one.
            return match begins && self.at > 0 {
                true => Err(self.expected("an attribute type")),
                false => Ok(None),
            };
        }
        let attribute = self.attribute()?;
        self.skip_spaces();
        if self.take() != Some(b'=') {
            return Err(self.expected("'=' after the attribute type"));
        }
        self.skip_spaces();
        let value = match self.peek() {
            Some(b'#') => self.hex_string()?,
            Some(b'"') => self.quoted()?,
            _ => self.plain()?,
        };
        self.skip_spaces();
        let joined = match self.take() {
            None => return self.done(attribute, value),
            Some(b'+') => true,
            Some(b',' | b';') => false,
            Some(_) => return Err(self.expected("',' or '+' after a value")),
        };
        self.pending = true;
        Ok(Some(RawAva {
            attribute,
            value,
            joined,
        }))
    }

    fn done(
        &mut self,
        attribute: &'t str,
        value: Cow<'t, [u8]>,
    ) -> Result<Option<RawAva<'t>>, Malformed> {
        self.pending = false;
        Ok(Some(RawAva {
            attribute,
            value,
            joined: false,
        }))
    }

    fn attribute(&mut self) -> Result<&'t str, Malformed> {
        let rest = self.rest();
        let length = rest
            .bytes()
            .position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_')))
            .unwrap_or(rest.len());
        let name = rest.get(..length).unwrap_or_default();
        if name.is_empty() {
            return Err(self.expected("an attribute type"));
        }
        self.at += length;
        Ok(name)
    }

    fn plain(&mut self) -> Result<Cow<'t, [u8]>, Malformed> {
        let start = self.at;
        let rest = self.rest().as_bytes();
        let simple = rest
            .iter()
            .position(|b| is_special(*b))
            .unwrap_or(rest.len());
        if rest.get(simple) != Some(&b'\\') {
            self.at += simple;
            return match rest.get(simple) {
                Some(b'"' | b'<' | b'>' | 0) => {
                    Err(self.expected("an escape before a special character"))
                }
                _ => Ok(Cow::Borrowed(trim_end(
                    self.text.as_bytes().get(start..self.at).unwrap_or_default(),
                ))),
            };
        }
        let mut value = Vec::with_capacity(rest.len());
        // Spaces at the end are dropped unless escaped; `kept` is the length up to the last byte
        // that stays.
        let mut kept = 0;
        while let Some(b) = self.peek() {
            match b {
                b',' | b'+' | b';' => break,
                b'\\' => {
                    let escaped = self.escape()?;
                    value.push(escaped);
                    kept = value.len();
                }
                b'"' | b'<' | b'>' | 0 => {
                    return Err(self.expected("an escape before a special character"));
                }
                _ => {
                    self.at += 1;
                    value.push(b);
                    if b != b' ' {
                        kept = value.len();
                    }
                }
            }
        }
        value.truncate(kept);
        Ok(Cow::Owned(value))
    }

    /// Reads `"text"` of RFC 1779, in which only `\` and `"` need escapes.
    fn quoted(&mut self) -> Result<Cow<'t, [u8]>, Malformed> {
        self.at += 1;
        let mut value = Vec::new();
        loop {
            match self.peek() {
                None => return Err(self.expected("a closing quote")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(value));
                }
                Some(b'\\') => value.push(self.escape()?),
                Some(b) => {
                    self.at += 1;
                    value.push(b);
                }
            }
        }
    }

    fn escape(&mut self) -> Result<u8, Malformed> {
        self.at += 1;
        let first = self.take().ok_or(self.expected("a character after '\\'"))?;
        if matches!(
            first,
            b' ' | b'"' | b'#' | b'+' | b',' | b';' | b'<' | b'=' | b'>' | b'\\'
        ) {
            return Ok(first);
        }
        let second = self
            .take()
            .ok_or(self.expected("two hexadecimal digits after '\\'"))?;
        hex_pair(first, second).ok_or(self.expected("two hexadecimal digits after '\\'"))
    }

    /// Reads `#` and the BER encoding of the value in hexadecimal.
    fn hex_string(&mut self) -> Result<Cow<'t, [u8]>, Malformed> {
        self.at += 1;
        let mut bytes = Vec::new();
        while let Some(first) = self.peek().filter(u8::is_ascii_hexdigit) {
            self.at += 1;
            let second = self
                .take()
                .ok_or(self.expected("an even number of hexadecimal digits"))?;
            bytes.push(
                hex_pair(first, second)
                    .ok_or(self.expected("an even number of hexadecimal digits"))?,
            );
        }
        if bytes.is_empty() {
            return Err(self.expected("hexadecimal digits after '#'"));
        }
        unwrap_string(bytes)
            .map(Cow::Owned)
            .ok_or(self.expected("the encoding of a text after '#'"))
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self) -> Option<u8> {
        let b = self.peek()?;
        self.at += 1;
        Some(b)
    }

    fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expected(&self, expected: &'static str) -> Malformed {
        Malformed {
            at: self.at,
            expected,
        }
    }
}

fn is_special(b: u8) -> bool {
    matches!(b, b',' | b'+' | b';' | b'\\' | b'"' | b'<' | b'>' | 0)
}

fn trim_end(mut value: &[u8]) -> &[u8] {
    while let Some(shorter) = value.strip_suffix(b" ") {
        value = shorter;
    }
    value
}

fn hex_pair(first: u8, second: u8) -> Option<u8> {
    let digit = |b: u8| (b as char).to_digit(16);
    u8::try_from(digit(first)? << 4 | digit(second)?).ok()
}

/// Returns the content of a string type, and `None` for other types, whose LDAP form depends on the
/// syntax.
fn unwrap_string(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let (&tag, rest) = bytes.split_first()?;
    // OCTET STRING, UTF8String, NumericString, PrintableString, IA5String, VisibleString.
    if !matches!(tag, 0x04 | 0x0c | 0x12 | 0x13 | 0x16 | 0x1a) {
        return None;
    }
    let (&first, rest) = rest.split_first()?;
    let (length, content) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let count = usize::from(first & 0x7f);
        let (length, content) = rest
            .split_at_checked(count)
            .filter(|_| (1..=4).contains(&count))?;
        let bytes = length.iter().fold(0, |n, b| n << 8 | usize::from(*b));
        (bytes, content)
    };
    if content.len() != length {
        return None;
    }
    let start = bytes.len() - length;
    bytes.drain(..start);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Result<Vec<(String, Vec<u8>, bool)>, Malformed> {
        let mut scan = Scan::new(text);
        let mut all = Vec::new();
        while let Some(ava) = scan.next()? {
            all.push((ava.attribute.to_owned(), ava.value.into_owned(), ava.joined));
        }
        Ok(all)
    }

    fn ava(attribute: &str, value: &[u8], joined: bool) -> (String, Vec<u8>, bool) {
        (attribute.to_owned(), value.to_vec(), joined)
    }

    #[test]
    fn examples_of_rfc_4514_and_leniencies() {
        for (text, avas) in [
            ("", vec![]),
            (
                "UID=jsmith,DC=example,DC=net",
                vec![
                    ava("UID", b"jsmith", false),
                    ava("DC", b"example", false),
                    ava("DC", b"net", false),
                ],
            ),
            (
                "OU=Sales+CN=J.  Smith",
                vec![ava("OU", b"Sales", true), ava("CN", b"J.  Smith", false)],
            ),
            (
                r#"CN=James \"Jim\" Smith\, III"#,
                vec![ava("CN", b"James \"Jim\" Smith, III", false)],
            ),
            (
                r"CN=Before\0dAfter",
                vec![ava("CN", b"Before\rAfter", false)],
            ),
            (
                "1.3.6.1.4.1.1466.0=#04024869",
                vec![ava("1.3.6.1.4.1.1466.0", b"Hi", false)],
            ),
            (
                r"CN=Lu\C4\8Di\C4\87",
                vec![ava("CN", "Lučić".as_bytes(), false)],
            ),
            (
                " cn = a b  ; 2.5.4.10 = \"x, y\" ",
                vec![ava("cn", b"a b", false), ava("2.5.4.10", b"x, y", false)],
            ),
            (
                r"cn=a\ ,o=\20b\20 ",
                vec![ava("cn", b"a ", false), ava("o", b" b ", false)],
            ),
            (
                "cn=#0c820001 61 ".replace(' ', "").as_str(),
                vec![ava("cn", b"a", false)],
            ),
            ("cn=a=b", vec![ava("cn", b"a=b", false)]),
            ("cn=", vec![ava("cn", b"", false)]),
        ] {
            assert_eq!(scan(text).as_deref(), Ok(avas.as_slice()), "{text:?}");
        }
    }

    #[test]
    fn malformed_names() {
        for text in [
            "x",
            "=a",
            "cn=a,",
            ",cn=a",
            "cn=a,,o=b",
            "cn=a+",
            r"cn=a\",
            r"cn=a\4",
            r"cn=\zz",
            "cn=\"a",
            "cn=\"a\"b",
            "cn=#4",
            "cn=#",
            "cn=#zz",
            "cn=#0401",
            "cn=#04016162",
            "cn=#02010a",
            "cn=#0480616200",
            "cn=a<b",
            "cn;x=a",
            "c n=a",
            "cn=a\u{0}",
        ] {
            assert!(scan(text).is_err(), "{text:?}");
        }
    }
}
