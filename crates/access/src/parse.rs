//! The text form of rules.

use fulgurite_schema::{AttributeIndex, Dn, Schema};
use thiserror::Error;

use crate::level::Level;
use crate::rule::{AttributeSet, Rule, Scope, Who};

/// Why a rule cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("access rule {rule}, column {column}: {reason}")]
pub struct RuleError {
    /// Which rule, from 1.
    pub rule: usize,
    /// Where in its text, in characters from 1.
    pub column: usize,
    /// What is wrong there.
    pub reason: String,
}

/// Compiles one rule; `number` names it in errors.
pub(crate) fn rule(schema: &Schema, number: usize, text: &str) -> Result<Rule, RuleError> {
    let mut parser = Parser {
        schema,
        number,
        words: words(text).map_err(|at| error(number, text, at, "the quote is not closed"))?,
        text,
        next: 0,
    };
    parser.rule()
}

struct Parser<'t> {
    schema: &'t Schema,
    number: usize,
    text: &'t str,
    words: Vec<Word<'t>>,
    next: usize,
}

/// A blank-separated word; blanks between quotes do not separate.
#[derive(Clone, Copy)]
struct Word<'t> {
    at: usize,
    text: &'t str,
}

impl<'t> Parser<'t> {
    fn rule(&mut self) -> Result<Rule, RuleError> {
        self.keyword("to")?;
        let (scope, attributes) = self.target()?;
        let mut by = Vec::new();
        while self.peek().is_some() {
            self.keyword("by")?;
            by.push(self.clause()?);
        }
        Ok(Rule {
            scope,
            attributes,
            by,
        })
    }

    fn target(&mut self) -> Result<(Scope, Option<AttributeSet>), RuleError> {
        let mut scope = None;
        let mut attributes = None;
        let mut everything = false;
        while let Some(word) = self.peek().filter(|w| !w.text.eq_ignore_ascii_case("by")) {
            self.next += 1;
            if word.text == "*" {
                everything = true;
            } else if let Some(name) = self.dn_word(word)? {
                if scope.replace(name).is_some() {
                    return Err(self.error(word.at, "a second dn= in one target"));
                }
            } else if let Some(list) = strip_key(word.text, &["attrs", "attr"]) {
                let at = word.at + word.text.len() - list.len();
                if attributes.replace(self.attributes(at, list)?).is_some() {
                    return Err(self.error(word.at, "a second attrs= in one target"));
                }
            } else {
                return Err(self.error(word.at, "expected *, dn.<style>=\"...\" or attrs=..."));
            }
        }
        if !everything && scope.is_none() && attributes.is_none() {
            return Err(self.error_here("expected *, dn.<style>=\"...\" or attrs=... after \"to\""));
        }
        Ok((scope.unwrap_or(Scope::Any), attributes))
    }

    fn clause(&mut self) -> Result<(Who, Level), RuleError> {
        let Some(word) = self.take() else {
            return Err(self.error_here("expected a subject after \"by\""));
        };
        let who = match word.text.to_ascii_lowercase().as_str() {
            "*" => Who::Anyone,
            "anonymous" => Who::Anonymous,
            "users" => Who::Users,
            "self" => Who::Itself,
            _ => match self.dn_word(word)? {
                Some(scope) => Who::Dn(scope),
                None => {
                    return Err(self.error(
                        word.at,
                        "expected *, anonymous, users, self or dn.<style>=\"...\"",
                    ));
                }
            },
        };
        let Some(word) = self.take() else {
            return Err(self.error_here("expected a level after the subject"));
        };
        let level = word.text.parse().map_err(|()| {
            self.error(
                word.at,
                "expected none, disclose, auth, compare, search, read or write",
            )
        })?;
        if let Some(word) = self.peek() {
            match word.text.to_ascii_lowercase().as_str() {
                "stop" => self.next += 1,
                "continue" | "break" => {
                    return Err(self.error(word.at, "\"continue\" and \"break\" are not supported"));
                }
                _ => {}
            }
        }
        Ok((who, level))
    }

    /// `dn[.style]="name"`; `None` when the word is something else.
    fn dn_word(&self, word: Word<'_>) -> Result<Option<Scope>, RuleError> {
        let Some((key, value)) = word.text.split_once('=') else {
            return Ok(None);
        };
        let key = key.to_ascii_lowercase();
        let style = match key.split_once('.') {
            None => "base",
            Some((_, style)) => style,
        };
        if key.split('.').next() != Some("dn") {
            return Ok(None);
        }
        let value_at = word.at + word.text.len() - value.len();
        let name = value
            .strip_prefix('"')
            .and_then(|v| v.strip_suffix('"'))
            .unwrap_or(value);
        let make = match style {
            "base" | "exact" => Scope::Base,
            "one" | "onelevel" => Scope::One,
            "sub" | "subtree" => Scope::Subtree,
            "children" => Scope::Children,
            _ => {
                return Err(self.error(word.at, "expected dn.base, .one, .subtree or .children"));
            }
        };
        let dn = Dn::parse(self.schema, name)
            .map_err(|error| self.error(value_at, &error.to_string()))?;
        Ok(Some(make(dn.normal().to_owned())))
    }

    fn attributes(&self, at: usize, list: &str) -> Result<AttributeSet, RuleError> {
        let mut set = AttributeSet::default();
        let mut at = at;
        for item in list.split(',') {
            self.attribute(at, item, &mut set)?;
            at += item.len() + 1;
        }
        set.types.sort_unstable();
        set.types.dedup();
        Ok(set)
    }

    fn attribute(&self, at: usize, item: &str, set: &mut AttributeSet) -> Result<(), RuleError> {
        if item.eq_ignore_ascii_case("entry") {
            set.entry = true;
        } else if item.eq_ignore_ascii_case("children") {
            set.children = true;
        } else if let Some(class) = item.strip_prefix('@') {
            let class = self
                .schema
                .object_class(class)
                .ok_or_else(|| self.error(at, &format!("{class}: object class undefined")))?;
            for &index in class.must.iter().chain(&class.may) {
                self.with_subtypes(index, set);
            }
        } else {
            let attribute = self
                .schema
                .attribute(item)
                .ok_or_else(|| self.error(at, &format!("{item}: attribute type undefined")))?;
            self.with_subtypes(attribute.index, set);
        }
        Ok(())
    }

    fn with_subtypes(&self, index: AttributeIndex, set: &mut AttributeSet) {
        set.types
            .extend_from_slice(&self.schema.attribute_at(index).subtypes);
    }

    fn keyword(&mut self, expected: &str) -> Result<(), RuleError> {
        match self.peek() {
            Some(word) if word.text.eq_ignore_ascii_case(expected) => {
                self.next += 1;
                Ok(())
            }
            Some(word) => Err(self.error(word.at, &format!("expected \"{expected}\""))),
            None => Err(self.error_here(&format!("expected \"{expected}\""))),
        }
    }

    fn peek(&self) -> Option<Word<'t>> {
        self.words.get(self.next).copied()
    }

    fn take(&mut self) -> Option<Word<'t>> {
        let word = self.peek();
        self.next += usize::from(word.is_some());
        word
    }

    fn error_here(&self, reason: &str) -> RuleError {
        let at = self.peek().map_or(self.text.len(), |word| word.at);
        self.error(at, reason)
    }

    fn error(&self, at: usize, reason: &str) -> RuleError {
        error(self.number, self.text, at, reason)
    }
}

fn error(rule: usize, text: &str, at: usize, reason: &str) -> RuleError {
    let before = text.get(..at).unwrap_or(text);
    RuleError {
        rule,
        column: before.chars().count() + 1,
        reason: reason.to_owned(),
    }
}

/// The value of `key=value` when the key is one of these.
fn strip_key<'t>(word: &'t str, keys: &[&str]) -> Option<&'t str> {
    let (key, value) = word.split_once('=')?;
    keys.iter()
        .any(|k| k.eq_ignore_ascii_case(key))
        .then_some(value)
}

/// Splits at blanks outside quotes.
///
/// # Errors
/// The position of a quote that is not closed.
fn words(text: &str) -> Result<Vec<Word<'_>>, usize> {
    let mut words = Vec::new();
    let mut start = None;
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (c, quote) {
            ('"', None) => {
                quote = Some(at);
                start.get_or_insert(at);
            }
            ('"', Some(_)) => quote = None,
            (c, None) if c.is_whitespace() => {
                if let Some(from) = start.take() {
                    words.push(word(text, from, at));
                }
            }
            _ => {
                start.get_or_insert(at);
            }
        }
    }
    if let Some(at) = quote {
        return Err(at);
    }
    if let Some(from) = start {
        words.push(word(text, from, text.len()));
    }
    Ok(words)
}

fn word(text: &str, from: usize, to: usize) -> Word<'_> {
    Word {
        at: from,
        text: text.get(from..to).unwrap_or_default(),
    }
}
