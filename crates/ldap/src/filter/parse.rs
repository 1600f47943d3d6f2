//! Filters from text (RFC 4515), written straight into their encoding.

use fulgurite_ber::{Mark, Tag, Writer};

use super::{
    ANY, APPROXIMATE, EQUALITY, Extensible, FILTER_DEPTH_CEILING, FINAL, GREATER_OR_EQUAL, INITIAL,
    Junction, LESS_OR_EQUAL, PRESENT, SUBSTRINGS,
};

/// Why text is not a filter. Positions are bytes from the start of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FilterTextError {
    /// The text ends inside a filter.
    #[error("the filter ends too early; a parenthesis is missing")]
    Unfinished,
    /// Something follows the filter, or comes in place of a part.
    #[error("unexpected character at position {0}; expected \"(\" or \")\"")]
    Unexpected(usize),
    /// A part without `=`.
    #[error("no \"=\" in the part at position {0}")]
    NoOperator(usize),
    /// No, or no possible, attribute description or matching rule.
    #[error("no valid attribute description at position {0}")]
    Attribute(usize),
    /// A backslash without two hexadecimal digits.
    #[error("\"\\\" at position {0} must be followed by two hexadecimal digits")]
    Escape(usize),
    /// An asterisk where none can be.
    #[error("\"*\" at position {0} must be written \\2a here")]
    Asterisk(usize),
    /// `(!...)` with no part, or with more than one.
    #[error("\"!\" at position {0} takes exactly one filter")]
    Not(usize),
    /// Parentheses nest too deeply.
    #[error("the filter nests deeper than {0}")]
    TooDeep(u16),
}

/// A junction whose parts are still being read.
struct OpenJunction {
    junction: Junction,
    at: usize,
    parts: usize,
    mark: Mark,
}

/// Parses all of `text` and writes one filter element.
pub(super) fn parse(text: &str, writer: &mut Writer<'_>) -> Result<(), FilterTextError> {
    let mut cursor = Cursor {
        text: text.as_bytes(),
        at: 0,
    };
    cursor.skip_spaces();
    if cursor.peek() != Some(b'(') {
        // A lone item may stand without parentheses, as every LDAP tool accepts it.
        let end = text.trim_end_matches(' ').len();
        let at = cursor.at;
        let text = text.as_bytes().get(at..end).unwrap_or_default();
        return item(Fragment { text, at }, writer);
    }
    let mut open: Vec<OpenJunction> = Vec::new();
    loop {
        cursor.skip_spaces();
        match cursor.peek() {
            Some(b'(') => {
                cursor.at += 1;
                part_begins(&mut open)?;
                begin_part(&mut cursor, &mut open, writer)?;
            }
            Some(b')') if !open.is_empty() => {
                cursor.at += 1;
                if let Some(done) = open.pop() {
                    if done.junction == Junction::Not && done.parts == 0 {
                        return Err(FilterTextError::Not(done.at));
                    }
                    writer.end(done.mark);
                }
            }
            Some(_) => return Err(FilterTextError::Unexpected(cursor.at)),
            None => return Err(FilterTextError::Unfinished),
        }
        if open.is_empty() {
            cursor.skip_spaces();
            return match cursor.peek() {
                None => Ok(()),
                Some(_) => Err(FilterTextError::Unexpected(cursor.at)),
            };
        }
    }
}

/// Counts a new part of the innermost junction.
fn part_begins(open: &mut [OpenJunction]) -> Result<(), FilterTextError> {
    if let Some(parent) = open.last_mut() {
        parent.parts += 1;
        if parent.junction == Junction::Not && parent.parts > 1 {
            return Err(FilterTextError::Not(parent.at));
        }
    }
    Ok(())
}

/// Reads what follows an opening parenthesis: the sign of a junction, or an item to its end.
fn begin_part(
    cursor: &mut Cursor<'_>,
    open: &mut Vec<OpenJunction>,
    writer: &mut Writer<'_>,
) -> Result<(), FilterTextError> {
    cursor.skip_spaces();
    let at = cursor.at;
    let junction = match cursor.peek() {
        Some(b'&') => Junction::And,
        Some(b'|') => Junction::Or,
        Some(b'!') => Junction::Not,
        Some(_) => {
            let end = cursor
                .find_from(at, b')')
                .ok_or(FilterTextError::Unfinished)?;
            cursor.at = end + 1;
            let text = cursor.text.get(at..end).unwrap_or_default();
            return item(Fragment { text, at }, writer);
        }
        None => return Err(FilterTextError::Unfinished),
    };
    if open.len() >= usize::from(FILTER_DEPTH_CEILING) {
        return Err(FilterTextError::TooDeep(FILTER_DEPTH_CEILING));
    }
    cursor.at += 1;
    open.push(OpenJunction {
        junction,
        at,
        parts: 0,
        mark: writer.begin(junction.tag()),
    });
    Ok(())
}

struct Cursor<'t> {
    text: &'t [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn find_from(&self, from: usize, wanted: u8) -> Option<usize> {
        memchr::memchr(wanted, self.text.get(from..)?).map(|offset| from + offset)
    }
}

/// A part of a filter's text, with its position for errors.
#[derive(Clone, Copy)]
struct Fragment<'t> {
    text: &'t [u8],
    at: usize,
}

/// Parses an item, such as `cn=b*s`.
fn item(item: Fragment<'_>, writer: &mut Writer<'_>) -> Result<(), FilterTextError> {
    let Fragment { text, at } = item;
    let equals = memchr::memchr(b'=', text).ok_or(FilterTextError::NoOperator(at))?;
    let (left, value) = (
        text.get(..equals).unwrap_or_default(),
        text.get(equals + 1..).unwrap_or_default(),
    );
    let name = |text| Fragment { text, at };
    let value = Fragment {
        text: value,
        at: at + equals + 1,
    };
    match left.split_last() {
        Some((b'>', left)) => assertion(GREATER_OR_EQUAL, name(left), value, writer),
        Some((b'<', left)) => assertion(LESS_OR_EQUAL, name(left), value, writer),
        Some((b'~', left)) => assertion(APPROXIMATE, name(left), value, writer),
        Some((b':', left)) => extensible(name(left), value, writer),
        _ if value.text == b"*" => {
            writer.primitive(PRESENT, description(name(left))?);
            Ok(())
        }
        _ if value.text.contains(&b'*') => substrings(name(left), value, writer),
        _ => assertion(EQUALITY, name(left), value, writer),
    }
}

fn assertion(
    tag: Tag,
    attribute: Fragment<'_>,
    value: Fragment<'_>,
    writer: &mut Writer<'_>,
) -> Result<(), FilterTextError> {
    let attribute = description(attribute)?;
    let mark = writer.begin(tag);
    writer.octet_string(attribute);
    write_value(Tag::OCTET_STRING, value, writer)?;
    writer.end(mark);
    Ok(())
}

fn substrings(
    attribute: Fragment<'_>,
    value: Fragment<'_>,
    writer: &mut Writer<'_>,
) -> Result<(), FilterTextError> {
    let attribute = description(attribute)?;
    let outer = writer.begin(SUBSTRINGS);
    writer.octet_string(attribute);
    let list = writer.begin(Tag::SEQUENCE);
    let last = value.text.iter().filter(|&&byte| byte == b'*').count();
    let mut at = value.at;
    for (number, text) in value.text.split(|&byte| byte == b'*').enumerate() {
        let tag = match number {
            0 => INITIAL,
            number if number == last => FINAL,
            _ => ANY,
        };
        if !text.is_empty() {
            write_value(tag, Fragment { text, at }, writer)?;
        } else if tag == ANY {
            return Err(FilterTextError::Asterisk(at));
        }
        at += text.len() + 1;
    }
    writer.end(list);
    writer.end(outer);
    Ok(())
}

/// Parses `[attribute][:dn][:rule]`, the left side of `:=`.
fn extensible(
    target: Fragment<'_>,
    value: Fragment<'_>,
    writer: &mut Writer<'_>,
) -> Result<(), FilterTextError> {
    let at = target.at;
    let mut parts = target.text.split(|&byte| byte == b':');
    let attribute = parts.next().filter(|name| !name.is_empty());
    let mut rule = parts.next();
    let dn_attributes = rule.is_some_and(|name| name.eq_ignore_ascii_case(b"dn"));
    if dn_attributes {
        rule = parts.next();
    }
    if parts.next().is_some() || (attribute.is_none() && rule.is_none()) {
        return Err(FilterTextError::Attribute(at));
    }
    for text in [attribute, rule].into_iter().flatten() {
        description(Fragment { text, at })?;
    }
    let mut unescaped = Vec::with_capacity(value.text.len());
    unescape(value, &mut unescaped)?;
    Extensible {
        rule,
        attribute,
        value: &unescaped,
        dn_attributes,
    }
    .encode(writer);
    Ok(())
}

/// Checks that a name consists of what attribute descriptions and OIDs consist of.
fn description(name: Fragment<'_>) -> Result<&[u8], FilterTextError> {
    let Fragment { text, at } = name;
    let possible =
        |&byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b';' | b'_');
    if !text.is_empty() && text.iter().all(possible) {
        Ok(text)
    } else {
        Err(FilterTextError::Attribute(at))
    }
}

fn write_value(
    tag: Tag,
    value: Fragment<'_>,
    writer: &mut Writer<'_>,
) -> Result<(), FilterTextError> {
    let mark = writer.begin(tag);
    unescape(value, writer.buffer())?;
    writer.end(mark);
    Ok(())
}

fn unescape(value: Fragment<'_>, out: &mut Vec<u8>) -> Result<(), FilterTextError> {
    let Fragment { text, at } = value;
    let mut bytes = text.iter().enumerate();
    while let Some((offset, &byte)) = bytes.next() {
        match byte {
            b'\\' => {
                let mut digit = || {
                    bytes
                        .next()
                        .and_then(|(_, &digit)| char::from(digit).to_digit(16))
                };
                let (Some(high), Some(low)) = (digit(), digit()) else {
                    return Err(FilterTextError::Escape(at + offset));
                };
                out.push((high << 4 | low).to_le_bytes()[0]);
            }
            b'*' => return Err(FilterTextError::Asterisk(at + offset)),
            b'(' => return Err(FilterTextError::Unexpected(at + offset)),
            byte => out.push(byte),
        }
    }
    Ok(())
}
