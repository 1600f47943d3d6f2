//! Text: Directory Strings, IA5 Strings, lists of lines, numeric strings and telephone numbers.

use std::borrow::Cow;

use super::form::{Content, Form, Test, decide};
use super::invalid::{InvalidValue, Normal};
use super::prepare::{Case, compact, map_and_normalise, prepare};
use super::substring::Piece;

/// caseIgnoreMatch and its relatives.
pub(super) static CASE_IGNORE: Form = Form {
    equality: Test::Stored(|_, assertion, value| {
        let in_place = if value.is_empty() {
            None
        } else {
            ascii_text_matches(assertion, value, Case::Ignore)
        };
        decide(in_place, || {
            Some(directory_string(value, Case::Ignore).ok()? == assertion)
        })
    }),
    piece: Some(|piece| prepared_piece(piece, Case::Ignore)),
    case: Some(Case::Ignore),
    content: Content::Text,
    ..Form::new(|_, value| directory_string(value, Case::Ignore))
};

/// caseExactMatch and its relatives.
pub(super) static CASE_EXACT: Form = Form {
    equality: Test::Stored(|_, assertion, value| {
        let in_place = if value.is_empty() {
            None
        } else {
            ascii_text_matches(assertion, value, Case::Exact)
        };
        decide(in_place, || {
            Some(directory_string(value, Case::Exact).ok()? == assertion)
        })
    }),
    piece: Some(|piece| prepared_piece(piece, Case::Exact)),
    case: Some(Case::Exact),
    content: Content::Text,
    ..Form::new(|_, value| directory_string(value, Case::Exact))
};

/// caseIgnoreIA5Match and its relatives.
pub(super) static CASE_IGNORE_IA5: Form = Form {
    equality: Test::Stored(|_, assertion, value| {
        decide(ascii_text_matches(assertion, value, Case::Ignore), || {
            Some(ia5_string(value, Case::Ignore).ok()? == assertion)
        })
    }),
    piece: Some(|piece| ia5_piece(piece, Case::Ignore)),
    case: Some(Case::Ignore),
    content: Content::Text,
    ..Form::new(|_, value| ia5_string(value, Case::Ignore))
};

/// caseExactIA5Match and its relatives.
pub(super) static CASE_EXACT_IA5: Form = Form {
    equality: Test::Stored(|_, assertion, value| {
        decide(ascii_text_matches(assertion, value, Case::Exact), || {
            Some(ia5_string(value, Case::Exact).ok()? == assertion)
        })
    }),
    piece: Some(|piece| ia5_piece(piece, Case::Exact)),
    case: Some(Case::Exact),
    content: Content::Text,
    ..Form::new(|_, value| ia5_string(value, Case::Exact))
};

/// caseIgnoreListMatch and its relatives. An assertion has to be a Postal Address; a stored value
/// with invalid escapes still has a normal form.
pub(super) static CASE_IGNORE_LIST: Form = Form {
    assertion: |_, assertion| {
        if is_postal_address(assertion) {
            line_list(assertion)
        } else {
            Err(InvalidValue)
        }
    },
    piece: Some(list_piece),
    content: Content::Text,
    ..Form::new(|_, value| line_list(value))
};

/// numericStringMatch and its relatives.
pub(super) static NUMERIC_STRING: Form = Form {
    piece: Some(|piece| Ok(Piece::Exact(numeric_string(piece)?.into_owned()))),
    content: Content::Text,
    ..Form::new(|_, value| numeric_string(value))
};

/// telephoneNumberMatch and its relatives.
pub(super) static TELEPHONE_NUMBER: Form = Form {
    equality: Test::Stored(|_, assertion, value| {
        decide(telephone_matches(assertion, value), || {
            Some(telephone_number(value).ok()? == assertion)
        })
    }),
    piece: Some(|piece| Ok(Piece::Exact(telephone_number(piece)?.into_owned()))),
    content: Content::Text,
    ..Form::new(|_, value| telephone_number(value))
};

/// Separates the lines of a normal caseIgnoreList: smaller than any prepared character, and in none
/// of them.
const LINE_END: u8 = b'\n';

/// The same as text.
const LINE_END_TEXT: &str = "\n";

/// Makes the normal form of a Directory String, which is not empty.
fn directory_string(value: &[u8], case: Case) -> Normal<'_> {
    if value.is_empty() {
        return Err(InvalidValue);
    }
    prepare(value, case)
}

/// Makes the normal form of an IA5 String: ASCII, may be empty.
fn ia5_string(value: &[u8], case: Case) -> Normal<'_> {
    if !value.is_ascii() {
        return Err(InvalidValue);
    }
    prepare(value, case)
}

/// Makes the normal form of a Numeric String: digits without spaces, not empty.
fn numeric_string(value: &[u8]) -> Normal<'_> {
    if value.is_empty() || !value.iter().all(|b| b.is_ascii_digit() || *b == b' ') {
        return Err(InvalidValue);
    }
    Ok(without(value, |b| b == b' '))
}

/// Makes the normal form of a Telephone Number: case folded, without spaces and hyphens (RFC 4518,
/// section 2.6.3). Its syntax is that of Printable String.
fn telephone_number(value: &[u8]) -> Normal<'_> {
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

/// Makes the normal form of a Postal Address: lines between `$`, each prepared. Within a line,
/// `\24` is `$` and `\5C` is `\`.
fn line_list(value: &[u8]) -> Normal<'_> {
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

fn without(value: &[u8], drop: impl Fn(u8) -> bool) -> Cow<'_, [u8]> {
    if value.iter().any(|&b| drop(b)) {
        Cow::Owned(value.iter().copied().filter(|&b| !drop(b)).collect())
    } else {
        Cow::Borrowed(value)
    }
}

/// Walks the value as preparation would, comparing as it goes. `None` leaves the decision to full
/// preparation: a character outside printable ASCII may combine with its neighbour or vanish.
#[inline]
fn ascii_text_matches(normal: &[u8], value: &[u8], case: Case) -> Option<bool> {
    let fold = |b: u8| {
        if case == Case::Ignore {
            b.to_ascii_lowercase()
        } else {
            b
        }
    };
    let mut rest = normal;
    let mut gap = false;
    let mut started = false;
    for (at, &b) in value.iter().enumerate() {
        if b == b' ' {
            gap = true;
            continue;
        }
        if !(0x21..0x7f).contains(&b) {
            return None;
        }
        if gap && started {
            match rest.split_first() {
                Some((b' ', tail)) => rest = tail,
                _ => return decided(value.get(at + 1)),
            }
        }
        gap = false;
        started = true;
        match rest.split_first() {
            Some((&expected, tail)) if expected == fold(b) => rest = tail,
            _ => return decided(value.get(at + 1)),
        }
    }
    Some(if started {
        rest.is_empty()
    } else {
        normal == b" "
    })
}

/// Returns the outcome of a mismatch. It counts only when nothing after it could change the
/// character just seen.
fn decided(next: Option<&u8>) -> Option<bool> {
    match next {
        None | Some(0x20..0x7f) => Some(false),
        Some(_) => None,
    }
}

fn telephone_matches(normal: &[u8], value: &[u8]) -> Option<bool> {
    if !value.iter().all(|b| (0x20..0x7f).contains(b)) {
        return None;
    }
    let significant = value
        .iter()
        .filter(|b| !matches!(b, b' ' | b'-'))
        .map(u8::to_ascii_lowercase);
    Some(significant.eq(normal.iter().copied()))
}

/// Returns true for a Postal Address: lines between `$` (RFC 4517, section 3.3.28). The only
/// escapes are `\24` and `\5C`. Empty lines occur in practice and are accepted.
pub(crate) fn is_postal_address(value: &[u8]) -> bool {
    if std::str::from_utf8(value).is_err() {
        return false;
    }
    let mut rest = value;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        match rest.get(at + 1..) {
            Some([b'2', b'4', after @ ..] | [b'5', b'C' | b'c', after @ ..]) => rest = after,
            _ => return false,
        }
    }
    true
}

/// Returns true for the characters of a Printable String (RFC 4517, section 3.2).
pub(crate) fn is_printable(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"'()+,-./:? =".contains(&b)
}

fn prepared_piece(piece: &[u8], case: Case) -> Result<Piece, InvalidValue> {
    Ok(Piece::Spaced(map_and_normalise(piece, case)?))
}

/// Prepares a piece of a list. As in slapd, a `$` in it is the end of a line.
fn list_piece(piece: &[u8]) -> Result<Piece, InvalidValue> {
    let lines = piece.split(|&b| b == b'$');
    let lines = lines.map(|line| map_and_normalise(&unescape_line(line), Case::Ignore));
    let lines = lines.collect::<Result<Vec<_>, _>>()?;
    Ok(Piece::Spaced(lines.join(LINE_END_TEXT)))
}

fn ia5_piece(piece: &[u8], case: Case) -> Result<Piece, InvalidValue> {
    if !piece.is_ascii() {
        return Err(InvalidValue);
    }
    prepared_piece(piece, case)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_ascii_is_compared_in_place() {
        let check = |normal: &str, value: &str| {
            ascii_text_matches(normal.as_bytes(), value.as_bytes(), Case::Ignore)
        };
        assert_eq!(check("foo bar", "  FOO   Bar "), Some(true));
        assert_eq!(check("foo bar", "foobar"), Some(false));
        assert_eq!(check("foobar", "foo bar"), Some(false));
        assert_eq!(check("foo", "foo bar"), Some(false));
        assert_eq!(check("foo bar", "foo"), Some(false));
        assert_eq!(check(" ", "   "), Some(true));
        assert_eq!(check("é", "e\u{301}"), None);
        assert_eq!(check("é", "e\u{ad}\u{301}"), None);
        assert_eq!(ascii_text_matches(b"Foo", b"foo", Case::Exact), Some(false));
    }
}
