//! A line of slapd.conf as tokens. White space divides them, `"` keeps it in a token, and `\` takes
//! the next character literally.

/// Divides a line into tokens.
///
/// Quotes may begin and end anywhere in a token, as in `dn="cn=two words"`. A backslash takes the
/// next character literally, in quotes and outside of them.
///
/// # Errors
/// A clause if a quote has no partner.
pub(crate) fn split_tokens(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            '\\' => {
                let word = word.get_or_insert_default();
                word.push(letters.next().unwrap_or(letter));
            }
            ' ' | '\t' | '\n' | '\r' if !quoted => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    match quoted {
        true => Err("a quote has no partner".to_owned()),
        false => Ok(words),
    }
}

/// Returns a word as it must be written to be read as one token.
pub(crate) fn quoted(word: &str) -> String {
    let plain = !word.is_empty() && !word.contains([' ', '\t', '\n', '\r', '"', '\\', '#']);
    if plain {
        return word.to_owned();
    }
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_those_of_slapd() {
        let words = |line| split_tokens(line).unwrap();
        assert_eq!(words("a  b\tc "), ["a", "b", "c"]);
        assert_eq!(
            words(r#"to dn="cn=a b" by *"#),
            ["to", "dn=cn=a b", "by", "*"]
        );
        assert_eq!(words(r#"a\ b "c\"d" e\\f"#), ["a b", "c\"d", r"e\f"]);
        assert_eq!(words(r#""" x"#), ["", "x"]);
        assert!(split_tokens("a \"b").is_err());
    }

    #[test]
    fn quoted_words_read_back() {
        for word in ["", "plain", "two words", r#"a"b\c"#, "#x", "line\nend"] {
            assert_eq!(split_tokens(&quoted(word)).unwrap(), [word]);
        }
    }
}
