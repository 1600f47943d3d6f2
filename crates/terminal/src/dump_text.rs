//! The encodings of keys and values in a dump.

use std::io::{self, Write};

/// The two ways to write bytes as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Two hexadecimal digits each.
    ByteValue,
    /// Printable bytes as they are, others as a backslash and two hexadecimal digits; backslashes
    /// are doubled.
    Print,
}

impl Format {
    /// Returns the format's name in a dump's header.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Format::ByteValue => "bytevalue",
            Format::Print => "print",
        }
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// Those of the output.
    pub fn write(self, bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
        // One call of the writer for each byte would take longer than everything else.
        let mut text = Vec::with_capacity(bytes.len() * 2);
        for byte in bytes {
            match (self, byte) {
                (Format::Print, b'\\') => text.extend(b"\\\\"),
                (Format::Print, b' '..=b'~') => text.push(*byte),
                (Format::Print, _) => {
                    text.push(b'\\');
                    text.extend(digits(*byte));
                }
                (Format::ByteValue, _) => text.extend(digits(*byte)),
            }
        }
        out.write_all(&text)
    }

    /// Reads the output of [`Format::write`]; `None` for any other text.
    #[must_use]
    pub fn read(self, text: &[u8]) -> Option<Vec<u8>> {
        match self {
            Format::ByteValue => {
                let (pairs, []) = text.as_chunks() else {
                    return None;
                };
                pairs.iter().map(|pair| byte(*pair)).collect()
            }
            Format::Print => read_printed(text),
        }
    }
}

fn read_printed(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    loop {
        let (next, after) = match rest {
            [] => return Some(bytes),
            [b'\\', b'\\', after @ ..] => (b'\\', after),
            [b'\\', high, low, after @ ..] => (byte([*high, *low])?, after),
            [b'\\', ..] => return None,
            [plain, after @ ..] => (*plain, after),
        };
        bytes.push(next);
        rest = after;
    }
}

fn digits(byte: u8) -> [u8; 2] {
    let digit = |value: u8| match value {
        0..=9 => b'0' + value,
        _ => b'a' + value - 10,
    };
    [digit(byte >> 4), digit(byte & 15)]
}

fn byte(digits: [u8; 2]) -> Option<u8> {
    let [high, low] = digits.map(|digit| char::from(digit).to_digit(16));
    u8::try_from(high? << 4 | low?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: Format, bytes: &[u8]) -> String {
        let mut out = Vec::new();
        format.write(bytes, &mut out).expect("write");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn written_text_reads_back_as_the_same_bytes() {
        let all: Vec<u8> = (0..=255).collect();
        for format in [Format::ByteValue, Format::Print] {
            let text = written(format, &all);
            assert!(!text.contains('\n'));
            assert_eq!(format.read(text.as_bytes()), Some(all.clone()));
            assert_eq!(format.read(b""), Some(Vec::new()));
        }
        assert_eq!(written(Format::Print, b"a \\\x7f\xC3~"), "a \\\\\\7f\\c3~");
        assert_eq!(written(Format::ByteValue, b"\x0a~"), "0a7e");
    }

    #[test]
    fn capital_digits_are_read_and_other_letters_refused() {
        assert_eq!(Format::ByteValue.read(b"AbcD"), Some(vec![0xab, 0xcd]));
        assert_eq!(Format::Print.read(b"\\Ab!"), Some(vec![0xab, b'!']));
        for text in ["6", "616", "6g", "+1", " 6"] {
            assert_eq!(Format::ByteValue.read(text.as_bytes()), None, "{text}");
        }
        for text in ["\\", "a\\6", "\\6g", "\\+1"] {
            assert_eq!(Format::Print.read(text.as_bytes()), None, "{text}");
        }
    }
}
