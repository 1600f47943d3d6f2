//! A value of `cn=config` as tokens. slapd divides it by other rules than a line of slapd.conf.
//!
//! A backslash is an ordinary character. A quote opens a part that may hold white space. A quote
//! before white space, or at the end, closes it; any other quote within belongs to the token.
//!
//! ```text
//!   dn.regex="^cn=a\.b c"     dn.regex=^cn=a\.b c
//!   "a"b"c"                   a"bc        the quote before the closing one gets lost, too
//! ```
//!
//! [`split_value`] was compared with slapd 2.5.13, value by value (`slaptest/quoting.rs`).

/// Divides a value into tokens.
pub(crate) fn split_value(value: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = value.trim_start_matches(is_space);
    while !rest.is_empty() {
        let (token, after) = first_token(rest);
        tokens.push(token);
        rest = after.trim_start_matches(is_space);
    }
    tokens
}

/// Returns a token as a value must spell it; `None` if no spelling reads back.
pub(crate) fn value_token(token: &str) -> Option<String> {
    let has_space = token.contains(is_space);
    if !token.is_empty() && !has_space && !token.contains('"') {
        return Some(token.to_owned());
    }
    let by_key = token.split_once('=');
    let by_key = by_key.map(|(key, value)| format!("{key}=\"{value}\""));
    by_key
        .filter(|text| reads_as(text, token))
        .or_else(|| quoted_token(token))
}

/// Returns a token in quotes as a value must spell it; `None` if no spelling reads back.
pub(crate) fn quoted_token(token: &str) -> Option<String> {
    // Reading takes one inner quote away, so a spare one follows the last.
    let spare = token.rsplit_once('"');
    let spare = spare.map(|(before, after)| format!("\"{before}\"\"{after}\""));
    let spellings = [Some(format!("\"{token}\"")), spare];
    let mut spellings = spellings.into_iter().flatten();
    spellings.find(|text| reads_as(text, token))
}

/// Returns tokens as one value; `None` if no spelling reads back.
pub(crate) fn value_text(tokens: &[String]) -> Option<String> {
    let spelled: Option<Vec<_>> = tokens.iter().map(|token| value_token(token)).collect();
    spelled.map(|tokens| tokens.join(" "))
}

/// Returns true if a text is read as one token, whatever follows it.
pub(crate) fn reads_as(text: &str, token: &str) -> bool {
    let read = split_value(text) == [token];
    read && split_value(&format!("{text} x")) == [token, "x"]
}

/// Returns the first token of a text that does not begin with white space, and the text after it.
fn first_token(text: &str) -> (String, &str) {
    let mut token = String::new();
    // Places in the token of quotes that it has kept.
    let mut quotes = Vec::new();
    let (mut open, mut closed) = (false, false);
    let mut end = text.len();
    for (at, letter) in text.char_indices() {
        if is_space(letter) && (closed || !open) {
            end = at;
            break;
        }
        if letter == '"' {
            let after = text.get(at + 1..).unwrap_or_default();
            closed = open && after.chars().next().is_none_or(is_space);
            open = true;
            if at == 0 {
                continue;
            }
            quotes.push(token.len());
        }
        token.push(letter);
    }
    let lost = if closed { 2 } else { 1 };
    for place in quotes.into_iter().rev().take(lost) {
        token.remove(place);
    }
    (token, text.get(end..).unwrap_or_default())
}

/// Returns true for the white space of C.
fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_read_as_slapd_reads_them() {
        for (value, tokens) in [
            (r"a\b c", &[r"a\b", "c"][..]),
            (r#""a\\b c""#, &[r"a\\b c"]),
            (r"a\ b", &[r"a\", "b"]),
            (r#"dn="a b" by"#, &["dn=a b", "by"]),
            (r#""a\"b""#, &[r"a\b"]),
            (r#"a"b"#, &["ab"]),
            (r#""a b"#, &["a b"]),
            (r#""a b"c d"#, &["a bc d"]),
            (r#""a"b"c""#, &[r#"a"bc"#]),
            (r#""ab"cd"ef"gh""#, &[r#"ab"cd"efgh"#]),
            (r#"x="a"b" c"#, &[r#"x="ab"#, "c"]),
            (r#"x="a "b c""#, &[r#"x="a b c"#]),
            (r#""""#, &[""]),
            (r#""""""#, &["\""]),
            ("\"a\" \"b\"\t\nc\r", &["a", "b", "c"]),
            (" ", &[]),
        ] {
            assert_eq!(split_value(value), tokens, "{value}");
        }
    }

    #[test]
    fn a_token_is_spelled_as_slapd_does() {
        let spelled = |token| value_token(token).unwrap();
        assert_eq!(spelled(r"dn.regex=^cn=a\.b"), r"dn.regex=^cn=a\.b");
        assert_eq!(spelled(r"dn.regex=^cn=a\.b c"), r#"dn.regex="^cn=a\.b c""#);
        assert_eq!(spelled(r#"a"b"#), r#""a""b""#);
        assert_eq!(quoted_token(r"a\+b").unwrap(), r#""a\+b""#);
        assert_eq!(
            value_token("a\" b"),
            None,
            "a quote before white space closes"
        );
    }

    proptest! {
        #[test]
        fn a_spelled_value_reads_back(tokens in proptest::collection::vec("[ab={} \\\\\"\t]{0,8}", 0..5)) {
            if let Some(text) = value_text(&tokens) {
                prop_assert_eq!(split_value(&text), tokens);
            }
        }
    }
}
