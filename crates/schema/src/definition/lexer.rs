//! Words of a parenthesised description (RFC 4512, section 4.1), read liberally.

/// One word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Open,
    Close,
    Dollar,
    /// Between single quotes; the text between them, escapes as written.
    Quoted(&'t str),
    /// Anything else up to white space, a parenthesis, a quote or a dollar sign.
    Word(&'t str),
}

/// Splits a description into words.
pub(super) struct Lexer<'t> {
    rest: &'t str,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Lexer<'t> {
        Lexer { rest: text }
    }

    /// Returns the next word, `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Token<'t>>, String> {
        self.rest = self.rest.trim_start();
        let Some(first) = self.rest.chars().next() else {
            return Ok(None);
        };
        Ok(Some(match first {
            '(' => self.single(Token::Open),
            ')' => self.single(Token::Close),
            '$' => self.single(Token::Dollar),
            '\'' => self.quoted()?,
            _ => self.word(),
        }))
    }

    /// Takes the digits and dots of an object identifier if a keyword follows without a space.
    /// `None` for anything else. LDIF loses such a space at the end of a line.
    pub(super) fn numbers_before_keyword(&mut self) -> Option<&'t str> {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (numbers, after) = rest.split_at(end);
        if numbers.is_empty() || !after.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return None;
        }
        self.rest = after;
        Some(numbers)
    }

    /// Looks at the next word without taking it.
    pub(super) fn peek(&self) -> Result<Option<Token<'t>>, String> {
        Lexer { rest: self.rest }.next()
    }

    fn single(&mut self, token: Token<'t>) -> Token<'t> {
        self.rest = &self.rest[1..];
        token
    }

    /// Returns a quote closes the text only where a description can go on: real files have
    /// apostrophes inside DESC.
    fn quoted(&mut self) -> Result<Token<'t>, String> {
        let text = &self.rest[1..];
        for (at, _) in text.match_indices('\'') {
            let after = &text[at + 1..];
            if after.is_empty()
                || after
                    .starts_with(|c: char| c.is_whitespace() || matches!(c, ')' | '(' | '$' | '{'))
            {
                self.rest = after;
                return Ok(Token::Quoted(&text[..at]));
            }
        }
        Err("a quoted text is not closed".to_owned())
    }

    fn word(&mut self) -> Token<'t> {
        let end = self
            .rest
            .find(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '$' | '\''))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Token::Word(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Result<Vec<Token<'_>>, String> {
        let mut lexer = Lexer::new(text);
        let mut all = Vec::new();
        while let Some(token) = lexer.next()? {
            all.push(token);
        }
        Ok(all)
    }

    #[test]
    fn splits_words() {
        use Token::*;
        assert_eq!(
            words("( 2.5.4.3 NAME('cn' 'it's')\tMUST (a$b)SYNTAX 1.2{3} )"),
            Ok(vec![
                Open,
                Word("2.5.4.3"),
                Word("NAME"),
                Open,
                Quoted("cn"),
                Quoted("it's"),
                Close,
                Word("MUST"),
                Open,
                Word("a"),
                Dollar,
                Word("b"),
                Close,
                Word("SYNTAX"),
                Word("1.2{3}"),
                Close
            ])
        );
        assert!(words("( 'open").is_err());
        assert_eq!(words("DESC ''"), Ok(vec![Word("DESC"), Quoted("")]));
    }
}
