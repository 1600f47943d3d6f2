//! Rules are words between blanks, by the quoting rules of slapd.conf(5): quotes keep blanks together wherever they
//! stand in a word, and a backslash makes the next character an ordinary one.

/// One word, quotes and backslashes removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Where it begins.
    pub(super) at: usize,
    pub(super) text: String,
}

impl Word {
    pub(super) fn is(&self, keyword: &str) -> bool {
        self.text.eq_ignore_ascii_case(keyword)
    }
}

/// # Errors
/// The position of a quote that is not closed.
pub(super) fn words(text: &str) -> Result<Vec<Word>, usize> {
    let mut words = Vec::new();
    let mut word: Option<Word> = None;
    let mut quote = None;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if quote.is_none() && c.is_whitespace() {
            words.extend(word.take());
            continue;
        }
        let current = word.get_or_insert_with(|| Word {
            at,
            text: String::new(),
        });
        match c {
            '"' if quote.is_some() => quote = None,
            '"' => quote = Some(at),
            '\\' => {
                if let Some((_, escaped)) = chars.next() {
                    current.text.push(escaped);
                }
            }
            c => current.text.push(c),
        }
    }
    if let Some(at) = quote {
        return Err(at);
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes() {
        let texts = |text: &str| {
            words(text).map(|words| words.into_iter().map(|word| word.text).collect::<Vec<_>>())
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
        assert_eq!(texts(r#"to "x"#), Err(3));
        assert_eq!(words("  ab").map(|w| w[0].at), Ok(2));
    }
}
