//! String preparation (RFC 4518).
//!
//! ```text
//! value -> map (fold case) -> NFKC -> insignificant spaces -> prepared
//! ```
//! The step that prohibits characters is left out. Directories hold private-use and replacement
//! characters, and such values have to be found and imported.
//!
//! The RFC marks spaces by doubling them, so that substrings can meet in the middle of a run.
//! Normal forms here are the compact equivalent. They have no space at either end and one space for
//! an inner run. A text of spaces only becomes a single space. Order and equality are the same;
//! [`SubstringAssertion`](super::SubstringAssertion) expands when it matters.

use std::borrow::Cow;

use stringprep::tables;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::invalid::InvalidValue;

/// True if case matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Ignore,
    Exact,
}

/// Prepares a whole value. Borrowed when it is prepared already and plain ASCII.
///
/// # Errors
/// [`InvalidValue`] for text that is not UTF-8.
pub(crate) fn prepare(value: &[u8], case: Case) -> Result<Cow<'_, [u8]>, InvalidValue> {
    match AsciiProfile::of(value) {
        None => {
            let text = map_and_normalise(value, case)?;
            Ok(Cow::Owned(compact(&text).into_bytes()))
        }
        Some(plain) if plain.odd_spaces => Ok(Cow::Owned(prepare_ascii(value, case))),
        Some(plain) if plain.upper && case == Case::Ignore => {
            Ok(Cow::Owned(value.to_ascii_lowercase()))
        }
        Some(_) => Ok(Cow::Borrowed(value)),
    }
}

/// The properties of a value of printable ASCII.
pub(crate) struct AsciiProfile {
    /// True if it has letters that folding changes.
    pub(crate) upper: bool,
    /// True if it has spaces at an end or in a row, or is empty.
    pub(crate) odd_spaces: bool,
}

impl AsciiProfile {
    /// Looks at a value. Returns `None` if it is not all printable ASCII.
    pub(crate) fn of(value: &[u8]) -> Option<AsciiProfile> {
        let (mut upper, mut odd_spaces, mut printable) = (false, false, true);
        let mut before = b' ';
        for &b in value {
            printable &= b.wrapping_sub(b' ') < 0x5f;
            upper |= b.is_ascii_uppercase();
            odd_spaces |= b == b' ' && before == b' ';
            before = b;
        }
        odd_spaces |= before == b' ';
        printable.then_some(AsciiProfile { upper, odd_spaces })
    }
}

/// Copies a value that is prepared already, but for its case, into a buffer of the caller. Returns
/// false for values that do not fit, have odd spaces or are not all printable ASCII.
///
/// No loop ends early, so that the compiler handles sixteen bytes at a time.
#[inline]
fn fold_plain(value: &[u8], case: Case, buffer: &mut [u8; SHORT]) -> bool {
    let Some(out) = buffer.get_mut(..value.len()) else {
        return false;
    };
    let mut odd = 0;
    for (to, &b) in out.iter_mut().zip(value) {
        odd |= u8::from(b.wrapping_sub(b' ') >= 0x5f);
        *to = match case {
            Case::Ignore => b.to_ascii_lowercase(),
            Case::Exact => b,
        };
    }
    let ([first, behind @ ..], [.., last]) = (value, value) else {
        return false;
    };
    for (a, b) in value.iter().zip(behind) {
        odd |= u8::from(*a == b' ') & u8::from(*b == b' ');
    }
    odd == 0 && *first != b' ' && *last != b' '
}

/// Prepares into a buffer of the caller, as [`prepare`] does. Returns `None` for values that do not
/// fit or are not all printable ASCII.
pub(crate) fn prepare_short<'b>(
    value: &[u8],
    case: Case,
    buffer: &'b mut [u8; SHORT],
) -> Option<&'b [u8]> {
    if fold_plain(value, case, buffer) {
        return buffer.get(..value.len());
    }
    prepare_odd(value, case, buffer)
}

/// As [`prepare_short`], for values with odd spaces.
#[inline(never)]
fn prepare_odd<'b>(value: &[u8], case: Case, buffer: &'b mut [u8; SHORT]) -> Option<&'b [u8]> {
    if value.len() > SHORT || !value.iter().all(|b| (0x20..0x7f).contains(b)) {
        return None;
    }
    let mut length = 0;
    let mut put = |b: u8| {
        if let Some(slot) = buffer.get_mut(length) {
            *slot = b;
            length += 1;
        }
    };
    let mut gap = None;
    for &b in value {
        if b == b' ' {
            // Counts once something has gone before.
            gap = gap.map(|_| true);
            continue;
        }
        if gap == Some(true) {
            put(b' ');
        }
        gap = Some(false);
        put(if case == Case::Ignore {
            b.to_ascii_lowercase()
        } else {
            b
        });
    }
    if gap.is_none() {
        put(b' ');
    }
    buffer.get(..length)
}

/// Values up to this length are prepared without allocation.
pub(crate) const SHORT: usize = 128;

/// Steps 1 to 3: transcode, map, normalise. Spaces are left alone.
pub(crate) fn map_and_normalise(value: &[u8], case: Case) -> Result<String, InvalidValue> {
    let text = std::str::from_utf8(value).map_err(|_| InvalidValue)?;
    if value.iter().all(|b| (0x20..0x7f).contains(b)) {
        // Neither mapped nor composed; a line of an address, say.
        return Ok(match case {
            Case::Ignore => text.to_ascii_lowercase(),
            Case::Exact => text.to_owned(),
        });
    }
    let mut prepared = map_once(text, case);
    if case == Case::Ignore {
        // Table B.2 is closed under NFKC for the characters of its time only; later ones may need
        // another round.
        for _ in 0..3 {
            let again = map_once(&prepared, case);
            if again == prepared {
                break;
            }
            prepared = again;
        }
    }
    Ok(prepared)
}

/// Does step 6 for whole values.
pub(crate) fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut gap = false;
    while let Some(c) = chars.next() {
        // A space that carries a combining mark is a letter of sorts (RFC 4518, section 2.6.1).
        if c == ' ' && !chars.peek().copied().is_some_and(is_combining) {
            gap = true;
            continue;
        }
        if gap && !out.is_empty() {
            out.push(' ');
        }
        gap = false;
        out.push(c);
    }
    if out.is_empty() {
        out.push(' ');
    }
    out
}

fn prepare_ascii(value: &[u8], case: Case) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    for word in value.split(|&b| b == b' ').filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(b' ');
        }
        match case {
            Case::Ignore => out.extend(word.iter().map(u8::to_ascii_lowercase)),
            Case::Exact => out.extend_from_slice(word),
        }
    }
    if out.is_empty() {
        out.push(b' ');
    }
    out
}

fn map_once(text: &str, case: Case) -> String {
    let mapped = text.chars().filter_map(map_char);
    match case {
        Case::Exact => mapped.nfkc().collect(),
        Case::Ignore => mapped.flat_map(fold).nfkc().collect(),
    }
}

/// Does step 2 without case folding: nothing, a space, or the character itself (RFC 4518, section
/// 2.2).
fn map_char(c: char) -> Option<char> {
    match c {
        // Most characters, without asking the tables.
        ' '..='~' | '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{24f}' => Some(c),
        '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{85}' => Some(' '),
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => None,
        // Zero width space; soft hyphen, joiners, variation selectors, object replacement and tags
        // below.
        '\u{200b}' => None,
        '\u{ad}' | '\u{34f}' | '\u{1806}' | '\u{180b}'..='\u{180e}' | '\u{6dd}' | '\u{70f}' => None,
        '\u{200c}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2063}'
        | '\u{206a}'..='\u{206f}' => None,
        '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffc}' => None,
        '\u{1d173}'..='\u{1d17a}' | '\u{e0001}' | '\u{e0020}'..='\u{e007f}' => None,
        _ if c.general_category_group() == GeneralCategoryGroup::Separator => Some(' '),
        _ => Some(c),
    }
}

/// Folds case by RFC 3454, table B.2; characters younger than the table by their Unicode lower
/// case.
fn fold(c: char) -> impl Iterator<Item = char> {
    let ascii = c.is_ascii().then(|| c.to_ascii_lowercase());
    let known = ascii.is_none() && !tables::unassigned_code_point(c);
    let by_table = known.then(|| tables::case_fold_for_nfkc(c));
    let by_unicode = (ascii.is_none() && !known).then(|| c.to_lowercase());
    ascii
        .into_iter()
        .chain(by_table.into_iter().flatten())
        .chain(by_unicode.into_iter().flatten())
}

fn is_combining(c: char) -> bool {
    !c.is_ascii() && c.general_category_group() == GeneralCategoryGroup::Mark
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ignore(text: &str) -> Result<String, InvalidValue> {
        prepare(text.as_bytes(), Case::Ignore).map(|v| String::from_utf8(v.into_owned()).unwrap())
    }

    #[test]
    fn edge_cases_of_preparation() {
        for (value, prepared) in [
            ("Foo  Bar", "foo bar"),
            ("  x  ", "x"),
            ("   ", " "),
            ("Straße", "strasse"),
            ("STRASSE", "strasse"),
            ("İ", "i\u{307}"),
            ("ſ", "s"),
            ("e\u{301}", "é"),
            ("É", "é"),
            ("a\u{a0}b", "a b"),
            ("a\u{2003}\u{3000}b", "a b"),
            ("so\u{ad}ft", "soft"),
            ("ze\u{200b}ro\u{200d}", "zero"),
            ("tab\tnew\r\nline", "tab new line"),
            ("nul\u{0}\u{7}l", "null"),
            ("ﬁﬀ", "fiff"),
            ("Ⅷ", "viii"),
            ("ｆｕｌｌ", "full"),
            ("Σίσυφος", "σίσυφοσ"),
            ("½", "1⁄2"),
            ("x\u{fe0f}y", "xy"),
            ("a \u{301}b", "a \u{301}b"),
            ("𐐀", "𐐨"),
        ] {
            assert_eq!(ignore(value).as_deref(), Ok(prepared), "{value:?}");
        }
    }

    #[test]
    fn case_exact_keeps_case_but_normalises() {
        let exact = |text: &str| prepare(text.as_bytes(), Case::Exact).unwrap().into_owned();
        assert_eq!(exact(" Foo  Bar "), b"Foo Bar");
        assert_eq!(exact("E\u{301}"), "É".as_bytes());
    }

    #[test]
    fn odd_characters_are_kept() {
        for value in ["\u{e000}", "a\u{fffd}", "\u{fdd0}", "\u{10fffe}"] {
            assert_eq!(ignore(value).as_deref(), Ok(value));
        }
        assert_eq!(prepare(b"\xff", Case::Ignore), Err(InvalidValue));
    }

    #[test]
    fn short_values_are_prepared_alike() {
        for case in [Case::Ignore, Case::Exact] {
            for value in ["", " ", "  ", "a", " A  b ", "Foo Bar", "x   "] {
                let mut buffer = [0; SHORT];
                let short = prepare_short(value.as_bytes(), case, &mut buffer);
                assert_eq!(
                    short,
                    prepare(value.as_bytes(), case).ok().as_deref(),
                    "{value:?}"
                );
            }
        }
        assert_eq!(
            prepare_short("é".as_bytes(), Case::Exact, &mut [0; SHORT]),
            None
        );
        assert_eq!(
            prepare_short(&[b'a'; SHORT + 1], Case::Exact, &mut [0; SHORT]),
            None
        );
    }

    proptest! {
        #[test]
        fn any_short_value_is_prepared_alike(value in "[ aAz~0\u{7f}\u{e9}]{0,128}", exact: bool) {
            let case = if exact { Case::Exact } else { Case::Ignore };
            let mut buffer = [0; SHORT];
            let short = prepare_short(value.as_bytes(), case, &mut buffer);
            let is_printable = value.bytes().all(|b| (0x20..0x7f).contains(&b));
            prop_assert_eq!(short.is_some(), is_printable, "{:?}", value);
            if let Some(short) = short {
                let prepared = prepare(value.as_bytes(), case);
                prop_assert_eq!(Ok(short), prepared.as_deref());
            }
        }
    }

    #[test]
    fn prepared_ascii_is_borrowed() {
        assert!(matches!(
            prepare(b"already fine", Case::Ignore),
            Ok(Cow::Borrowed(_))
        ));
        assert!(matches!(
            prepare(b"Not fine", Case::Ignore),
            Ok(Cow::Owned(_))
        ));
    }
}
