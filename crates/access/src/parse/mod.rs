//! The text form of rules.

mod effect;
mod what;
mod who;
mod words;

use std::sync::Arc;

use fulgurite_schema::{Dn, Schema};
use thiserror::Error;

use crate::names::Style;
use crate::rule::{Rule, RuleText};
use words::{Word, words};

pub(crate) use who::group;

/// Why a rule cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}access rule {rule}, column {column}: {reason}", prefix(.origin))]
pub struct RuleError {
    /// Where the rule was written.
    pub origin: Arc<str>,
    /// Which rule, from 1.
    pub rule: usize,
    /// Where in its text, in characters from 1.
    pub column: usize,
    /// What is wrong there.
    pub reason: String,
}

fn prefix(origin: &str) -> String {
    if origin.is_empty() {
        String::new()
    } else {
        format!("{origin}: ")
    }
}

/// Compiles one rule; `number` names it in errors.
pub(crate) fn rule(schema: &Schema, number: usize, given: &RuleText) -> Result<Rule, RuleError> {
    let mut parser = Parser {
        schema,
        text: &given.text,
        words: Vec::new(),
        next: 0,
    };
    parser.read(number, given).map_err(|wrong| {
        let before = given.text.get(..wrong.at).unwrap_or(&given.text);
        RuleError {
            origin: Arc::clone(&given.origin),
            rule: number,
            column: before.chars().count() + 1,
            reason: wrong.reason,
        }
    })
}

/// What is wrong, and at which octet.
#[derive(Debug)]
struct Wrong {
    at: usize,
    reason: String,
}

type Parsed<T> = Result<T, Wrong>;

struct Parser<'t> {
    schema: &'t Schema,
    text: &'t str,
    words: Vec<Word>,
    next: usize,
}

/// `key[/...][.style][,modifier]=value`, taken apart.
#[derive(Clone, Debug)]
struct Keyed {
    at: usize,
    value_at: usize,
    /// In lower case.
    key: String,
    /// What follows the key after slashes.
    qualifiers: Vec<String>,
    style: Option<String>,
    expand: bool,
    value: String,
}

impl Parser<'_> {
    fn read(&mut self, number: usize, given: &RuleText) -> Parsed<Rule> {
        self.words = words(&given.text).map_err(|at| wrong(at, "the quote is not closed"))?;
        self.skip_number();
        if self.peek().is_some_and(|word| word.is("access")) {
            self.next += 1;
        }
        let from = self.peek().map_or(0, |word| word.at);
        self.keyword("to")?;
        let what = self.what()?;
        let what_text = self.source(from);
        let mut by = Vec::new();
        while self.peek().is_some() {
            let from = self.peek().map_or(0, |word| word.at);
            self.keyword("by")?;
            let mut clause = self.clause()?;
            clause.text = self.source(from);
            by.push(clause);
        }
        if by.is_empty() {
            return Err(self.wrong_here("expected \"by\" and whom the rule is about"));
        }
        Ok(Rule {
            number,
            origin: Arc::clone(&given.origin),
            what_text,
            what,
            by,
        })
    }

    /// `{3}` in front, as cn=config numbers its values.
    fn skip_number(&mut self) {
        if let Some(word) = self.words.first_mut()
            && let Some((number, rest)) =
                word.text.strip_prefix('{').and_then(|w| w.split_once('}'))
            && number.bytes().all(|octet| octet.is_ascii_digit())
        {
            if rest.is_empty() {
                self.next = 1;
            } else {
                word.text = rest.to_owned();
            }
        }
    }

    /// The text from `from` to the next word.
    fn source(&self, from: usize) -> String {
        let to = self.peek().map_or(self.text.len(), |word| word.at);
        self.text
            .get(from..to)
            .unwrap_or_default()
            .trim()
            .to_owned()
    }

    fn keyword(&mut self, expected: &str) -> Parsed<()> {
        if self.peek().is_some_and(|word| word.is(expected)) {
            self.next += 1;
            return Ok(());
        }
        Err(self.wrong_here(&format!("expected \"{expected}\"")))
    }

    /// A word of the form `key=value`.
    fn keyed(word: &Word) -> Option<Keyed> {
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
        Some(Keyed {
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

    fn peek(&self) -> Option<&Word> {
        self.words.get(self.next)
    }

    fn wrong_here(&self, reason: &str) -> Wrong {
        wrong(self.peek().map_or(self.text.len(), |word| word.at), reason)
    }
}

fn wrong(at: usize, reason: impl Into<String>) -> Wrong {
    Wrong {
        at,
        reason: reason.into(),
    }
}

impl Keyed {
    fn wrong(&self, reason: impl Into<String>) -> Wrong {
        wrong(self.at, reason)
    }

    fn wrong_value(&self, reason: impl Into<String>) -> Wrong {
        wrong(self.value_at, reason)
    }

    /// The style of a comparison of names; `default` if none is written.
    fn name_style(&self, default: Style) -> Parsed<Style> {
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
                    return Err(self.wrong(format!(
                        "unknown style {style:?}: expected base, exact, one, subtree, children, level{{n}} or regex"
                    )));
                }
            },
        })
    }

    /// No style but the one that says nothing.
    fn no_style(&self) -> Parsed<()> {
        match &self.style {
            None => Ok(()),
            Some(style) if matches!(style.as_str(), "exact" | "base") => Ok(()),
            Some(style) => Err(self.wrong(format!("{} has no style {style:?}", self.key))),
        }
    }

    fn no_qualifiers(&self) -> Parsed<()> {
        match self.qualifiers.first() {
            None => Ok(()),
            Some(more) => Err(self.wrong(format!("unexpected {more:?} after {}/", self.key))),
        }
    }
}

/// `level{n}`; `None` for another word.
fn level(style: &str) -> Option<Result<i32, ()>> {
    let number = style.strip_prefix("level")?;
    let number = number.strip_prefix('{').and_then(|n| n.strip_suffix('}'));
    Some(number.and_then(|n| n.parse().ok()).ok_or(()))
}

/// A name in normal form.
fn normal_name(schema: &Schema, text: &str) -> Result<String, String> {
    Dn::parse(schema, text)
        .map(|dn| dn.normal().to_owned())
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
