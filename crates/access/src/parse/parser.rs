//! The tokens of a rule, and the terms `key=value` among them.

use fulgurite_schema::{Dn, Schema};

use super::tokens::Token;
use crate::names::Style;

/// The OID of the DN syntax (RFC 4517, section 3.3.9).
pub(super) const DN_SYNTAX: &str = "1.3.6.1.4.1.1466.115.121.1.12";

/// An error and its byte offset.
#[derive(Debug)]
pub(super) struct ParseError {
    pub(super) at: usize,
    pub(super) reason: String,
}

pub(super) type ParseResult<T> = Result<T, ParseError>;

pub(super) struct Parser<'t> {
    pub(super) schema: &'t Schema,
    pub(super) text: &'t str,
    pub(super) tokens: Vec<Token>,
    pub(super) next: usize,
}

/// The parts of `key[/...][.style][,modifier]=value`.
#[derive(Clone, Debug)]
pub(super) struct KeyValue {
    pub(super) at: usize,
    pub(super) value_at: usize,
    /// In lower case.
    pub(super) key: String,
    /// The words after the key, separated by slashes.
    pub(super) qualifiers: Vec<String>,
    pub(super) style: Option<String>,
    pub(super) expand: bool,
    pub(super) value: String,
}

impl Parser<'_> {
    /// Skips `{3}` in front, by which cn=config numbers its values.
    pub(super) fn skip_number(&mut self) {
        if let Some(word) = self.tokens.first_mut()
            && let Some((number, rest)) =
                word.text.strip_prefix('{').and_then(|w| w.split_once('}'))
            && number.bytes().all(|byte| byte.is_ascii_digit())
        {
            if rest.is_empty() {
                self.next = 1;
            } else {
                word.text = rest.to_owned();
            }
        }
    }

    /// Returns the text from `from` to the next word.
    pub(super) fn source(&self, from: usize) -> String {
        let to = self.peek().map_or(self.text.len(), |word| word.at);
        self.text
            .get(from..to)
            .unwrap_or_default()
            .trim()
            .to_owned()
    }

    pub(super) fn keyword(&mut self, expected: &str) -> ParseResult<()> {
        if self.peek().is_some_and(|word| word.is(expected)) {
            self.next += 1;
            return Ok(());
        }
        Err(self.error_here(&format!("expected \"{expected}\"")))
    }

    /// Returns a word of the form `key=value`.
    pub(super) fn keyed(word: &Token) -> Option<KeyValue> {
        let (left, value) = word.text.split_once('=')?;
        let (left, expand) = match left.split_once(',') {
            None => (left, None),
            Some((left, modifier)) => (left, Some(modifier)),
        };
        let (left, style) = match left.split_once('.') {
            None => (left, None),
            Some((left, style)) => (left, Some(style.to_ascii_lowercase())),
        };
        let mut parts = left.split('/').map(str::to_owned);
        Some(KeyValue {
            at: word.at,
            value_at: word.at + word.text.len() - value.len(),
            key: parts.next().unwrap_or_default().to_ascii_lowercase(),
            qualifiers: parts.collect(),
            style,
            expand: match expand {
                None => false,
                Some(modifier) if modifier.eq_ignore_ascii_case("expand") => true,
                Some(_) => return None,
            },
            value: value.to_owned(),
        })
    }

    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    pub(super) fn error_here(&self, reason: &str) -> ParseError {
        error_at(self.peek().map_or(self.text.len(), |word| word.at), reason)
    }
}

pub(super) fn error_at(at: usize, reason: impl Into<String>) -> ParseError {
    ParseError {
        at,
        reason: reason.into(),
    }
}

impl KeyValue {
    pub(super) fn error(&self, reason: impl Into<String>) -> ParseError {
        error_at(self.at, reason)
    }

    pub(super) fn value_error(&self, reason: impl Into<String>) -> ParseError {
        error_at(self.value_at, reason)
    }

    /// Returns the style of a comparison of names; `default` if none is written.
    pub(super) fn name_style(&self, default: Style) -> ParseResult<Style> {
        let Some(style) = self.style.as_deref() else {
            return Ok(default);
        };
        Ok(match style {
            "base" | "baseobject" | "exact" => Style::Base,
            "one" | "onelevel" => Style::One,
            "sub" | "subtree" => Style::Subtree,
            "children" => Style::Children,
            "regex" => Style::Regex,
            style => match level(style) {
                Some(Ok(levels)) if levels >= 0 => Style::Level(levels.unsigned_abs() as usize),
                _ => {
                    return Err(self.error(format!(
                        "unknown style {style:?}: expected base, exact, one, subtree, children, level{{n}} or regex"
                    )));
                }
            },
        })
    }

    /// Fails for any style but the default.
    pub(super) fn no_style(&self) -> ParseResult<()> {
        match &self.style {
            None => Ok(()),
            Some(style) if matches!(style.as_str(), "exact" | "base") => Ok(()),
            Some(style) => Err(self.error(format!("{} has no style {style:?}", self.key))),
        }
    }

    pub(super) fn no_qualifiers(&self) -> ParseResult<()> {
        match self.qualifiers.first() {
            None => Ok(()),
            Some(more) => Err(self.error(format!("unexpected {more:?} after {}/", self.key))),
        }
    }
}

/// Parses `level{n}`. Returns `None` for another word.
pub(super) fn level(style: &str) -> Option<Result<i32, ()>> {
    let number = style.strip_prefix("level")?;
    let number = number.strip_prefix('{').and_then(|n| n.strip_suffix('}'));
    Some(number.and_then(|n| n.parse().ok()).ok_or(()))
}

/// Returns a name in normal form.
pub(super) fn normal_name(schema: &Schema, text: &str) -> Result<String, String> {
    Dn::parse(schema, text)
        .map(|dn| dn.normal().to_owned())
        .map_err(|error| error.to_string())
}
