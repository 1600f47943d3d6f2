//! Normal forms of texts.

use std::borrow::Cow;

use super::InvalidValue;
use crate::prep::{Case, compact, map_and_normalise, prepare};
use crate::syntax::is_printable;

type Normal<'v> = Result<Cow<'v, [u8]>, InvalidValue>;

/// Between the lines of a caseIgnoreList: smaller than any prepared character, and in none of them.
const LINE_END: u8 = b'\n';

/// Directory String and its relatives: not empty.
pub(super) fn directory_string(value: &[u8], case: Case) -> Normal<'_> {
    if value.is_empty() {
        return Err(InvalidValue);
    }
    prepare(value, case)
}

/// IA5 String: ASCII, may be empty.
pub(super) fn ia5_string(value: &[u8], case: Case) -> Normal<'_> {
    if !value.is_ascii() {
        return Err(InvalidValue);
    }
    prepare(value, case)
}

/// Numeric String: digits, spaces dropped; not empty.
pub(super) fn numeric_string(value: &[u8]) -> Normal<'_> {
    if value.is_empty() || !value.iter().all(|b| b.is_ascii_digit() || *b == b' ') {
        return Err(InvalidValue);
    }
    Ok(without(value, |b| b == b' '))
}

/// Telephone Number: case folded, spaces and hyphens dropped (RFC 4518, section 2.6.3). Its syntax is that of Printable
/// String.
pub(super) fn telephone_number(value: &[u8]) -> Normal<'_> {
    if value.is_empty() || !value.iter().copied().all(is_printable) {
        return Err(InvalidValue);
    }
    let dropped = |b: u8| matches!(b, b' ' | b'-');
    if !value.iter().any(u8::is_ascii_uppercase) {
        return Ok(without(value, dropped));
    }
    Ok(Cow::Owned(
        value
            .iter()
            .filter(|b| !dropped(**b))
            .map(u8::to_ascii_lowercase)
            .collect(),
    ))
}

/// Postal Address: lines between `$`, each prepared; `\24` and `\5C` stand for `$` and `\` within a line.
pub(super) fn line_list(value: &[u8]) -> Result<Cow<'static, [u8]>, InvalidValue> {
    let mut out = Vec::with_capacity(value.len());
    for (number, line) in value.split(|&b| b == b'$').enumerate() {
        if number > 0 {
            out.push(LINE_END);
        }
        let line = map_and_normalise(&unescape_line(line), Case::Ignore)?;
        out.extend_from_slice(compact(&line).as_bytes());
    }
    Ok(Cow::Owned(out))
}

fn unescape_line(line: &[u8]) -> Cow<'_, [u8]> {
    if !line.contains(&b'\\') {
        return Cow::Borrowed(line);
    }
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((&b, tail)) = rest.split_first() {
        rest = match (b, tail) {
            (b'\\', [b'2', b'4', after @ ..]) => {
                out.push(b'$');
                after
            }
            (b'\\', [b'5', b'c' | b'C', after @ ..]) => {
                out.push(b'\\');
                after
            }
            _ => {
                out.push(b);
                tail
            }
        };
    }
    Cow::Owned(out)
}

/// Splits Name And Optional UID at its `#'...'B`, if it has one.
pub(crate) fn split_uid(value: &[u8]) -> (&[u8], Option<&[u8]>) {
    if let Some(at) = memchr::memrchr(b'#', value)
        && let (Some(name), Some(uid)) = (value.get(..at), value.get(at + 1..))
        && super::is_bit_string(uid)
    {
        return (name, Some(uid));
    }
    (value, None)
}

fn without(value: &[u8], drop: impl Fn(u8) -> bool) -> Cow<'_, [u8]> {
    if value.iter().any(|&b| drop(b)) {
        Cow::Owned(value.iter().copied().filter(|&b| !drop(b)).collect())
    } else {
        Cow::Borrowed(value)
    }
}
