//! Splits rules into words, by the quoting rules of slapd.conf(5). Quotes keep blanks together
//! anywhere in a word. A backslash makes the next character an ordinary one.

/// One word without quotes and backslashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// Where it begins.
    pub(super) at: usize,
    pub(super) text: String,
}

impl Token {
    pub(super) fn is(&self, keyword: &str) -> bool {
        self.text.eq_ignore_ascii_case(keyword)
    }
}

/// # Errors
/// Returns the position of a quote that is not closed.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, usize> {
    let mut tokens = Vec::new();
    let mut token: Option<Token> = None;
    let mut quote = None;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if quote.is_none() && matches!(c, ' ' | '\t' | '\n' | '\r') {
            tokens.extend(token.take());
            continue;
        }
        let current = token.get_or_insert_with(|| Token {
            at,
            text: String::new(),
        });
        match c {
            '"' if quote.is_some() => quote = None,
            '"' => quote = Some(at),
            '\\' => {
                // A backslash at the end has nothing to escape.
                let escaped = chars.next().map_or(c, |(_, escaped)| escaped);
                current.text.push(escaped);
            }
            c => current.text.push(c),
        }
    }
    if let Some(at) = quote {
        return Err(at);
    }
    tokens.extend(token);
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes() {
        let texts = |text: &str| {
            tokens(text).map(|tokens| {
                tokens
                    .into_iter()
                    .map(|token| token.text)
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(
            texts("to  * by"),
            Ok(vec!["to".into(), "*".into(), "by".into()])
        );
        assert_eq!(
            texts(r#"dn="a b"c d"#),
            Ok(vec!["dn=a bc".into(), "d".into()])
        );
        assert_eq!(
            texts(r#"a\ b "\"\\""#),
            Ok(vec!["a b".into(), "\"\\".into()])
        );
        assert_eq!(texts("a\t\n b"), Ok(vec!["a".into(), "b".into()]));
        assert_eq!(texts("a\u{a0}b\\"), Ok(vec!["a\u{a0}b\\".into()]));
        assert_eq!(texts(r#"to "x"#), Err(3));
        assert_eq!(tokens("  ab").map(|w| w[0].at), Ok(2));
    }
}
