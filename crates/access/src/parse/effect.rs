//! `<access>` and `<control>` of a clause.

use super::parser::{ParseResult, Parser, error_at};
use crate::rights::{Level, Rights};
use crate::rule::{Control, Effect, Identity};

impl Parser<'_> {
    /// Parses levels or privileges. Without any, the clause adds nothing.
    pub(super) fn effect(&mut self) -> ParseResult<(Effect, Option<Identity>)> {
        let unchanged = (Effect::Add(Rights::NONE), None);
        let Some(word) = self.peek() else {
            return Ok(unchanged);
        };
        if word.is("by") || control(&word.text).is_some() {
            return Ok(unchanged);
        }
        let word = word.clone();
        self.next += 1;
        let text = word.text.to_ascii_lowercase();
        let (text, own) = match (text.strip_prefix("realself"), text.strip_prefix("self")) {
            (Some(rest), _) => (rest, Some(Identity::Real)),
            (None, Some(rest)) => (rest, Some(Identity::Effective)),
            (None, None) => (text.as_str(), None),
        };
        let effect = effect_of(text).ok_or_else(|| {
            let expected = "expected none, disclose, auth, compare, search, read, add, delete, write, manage or \
                            privileges (=rscxd, +w, -r)";
            error_at(word.at, format!("unknown access {:?}: {expected}", word.text))
        })?;
        Ok((effect, own))
    }

    pub(super) fn control(&mut self) -> Control {
        let found = self.peek().and_then(|word| control(&word.text));
        self.next += usize::from(found.is_some());
        found.unwrap_or(Control::Stop)
    }
}

fn control(word: &str) -> Option<Control> {
    Some(match word.to_ascii_lowercase().as_str() {
        "stop" => Control::Stop,
        "continue" => Control::Continue,
        "break" => Control::Break,
        _ => return None,
    })
}

fn effect_of(text: &str) -> Option<Effect> {
    let make = match text.chars().next()? {
        '=' => Effect::Set,
        '+' => Effect::Add,
        '-' => Effect::Remove,
        _ => return level(text).map(Effect::Level),
    };
    let letters = text.get(1..).unwrap_or_default();
    let mut rights = Rights::NONE;
    for letter in letters.chars() {
        rights = rights | Rights::of_letter(letter)?;
    }
    Some(make(rights))
}

fn level(text: &str) -> Option<Rights> {
    match text {
        "add" => Some(Level::Read.rights() | Rights::ADD),
        "delete" => Some(Level::Read.rights() | Rights::DELETE),
        text => text.parse::<Level>().ok().map(Level::rights),
    }
}
