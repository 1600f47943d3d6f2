//! Readers of arguments that have a form of slapd's.

use std::num::NonZeroU32;

use fulgurite_policy::FeatureSet;

use crate::levels::{self, LevelError};
use crate::names::{ServerId, Threads};
use crate::statement::Statement;
use crate::{Note, Sourced};

pub(super) fn add_features<T: FeatureSet>(
    set: &mut T,
    statement: &Statement,
) -> Result<(), String> {
    match statement.arguments.iter().find(|word| !set.add(word)) {
        Some(unknown) => Err(format!("<{}> unknown feature {unknown}", statement.keyword)),
        None => Ok(()),
    }
}

pub(super) fn add_words(list: &mut Vec<String>, statement: &Statement) -> Result<(), String> {
    list.extend(statement.arguments.iter().cloned());
    Ok(())
}

pub(super) fn add_attribute_options(
    options: &mut Vec<String>,
    statement: &Statement,
) -> Result<(), String> {
    for option in &statement.arguments {
        let legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        if !option.starts_with(|letter: char| letter.is_ascii_alphabetic())
            || !option.chars().all(legal)
        {
            return Err(format!("illegal option name \"{option}\""));
        }
    }
    // Language tags are always known.
    let wanted = statement.arguments.iter();
    let wanted = wanted.filter(|option| !option.eq_ignore_ascii_case("lang-"));
    options.extend(wanted.cloned());
    Ok(())
}

pub(super) fn threads(statement: &Statement) -> Result<Threads, String> {
    let count = statement.int()?;
    match u32::try_from(count) {
        Ok(count) if count >= 2 => Ok(Threads(Some(count.min(1024)))),
        _ => Err(format!("threads={count} smaller than minimum value 2.")),
    }
}

/// Reads a number; a negative one counts as 0.
pub(super) fn zero_unless_positive(statement: &Statement) -> Result<u32, String> {
    let number = statement.int()?;
    Ok(u32::try_from(number).unwrap_or_default())
}

/// Adds the levels of a statement to a mask.
pub(super) fn log_levels(statement: &Statement, mut mask: u32) -> Result<u32, String> {
    let typed = &statement.keyword;
    for word in &statement.arguments {
        mask |= levels::parse_level(word).map_err(|error| match error {
            LevelError::UnknownName => format!("<{typed}> unknown level \"{word}\""),
            LevelError::InvalidNumber => format!("<{typed}> unable to parse level \"{word}\""),
        })?;
    }
    Ok(mask)
}

/// Reads a length that is at most `most`.
pub(super) fn substr_if_min_len(statement: &Statement, most: Option<u32>) -> Result<u32, String> {
    let value = statement.unsigned()?;
    match value > most.unwrap_or(4) {
        true => Err(format!("<index_substr_if_minlen> invalid value ({value})")),
        false => Ok(value),
    }
}

/// Reads a length that is at least `least`.
pub(super) fn substr_if_max_len(statement: &Statement, least: Option<u32>) -> Result<u32, String> {
    let value = statement.unsigned()?;
    match value < least.unwrap_or(2) {
        true => Err(format!("<index_substr_if_maxlen> invalid value ({value})")),
        false => Ok(value),
    }
}

/// Reads a server's number; only the first one may be without a URL.
pub(super) fn server_id(statement: &Statement, is_first: bool) -> Result<ServerId, String> {
    let words: Vec<&str> = statement.arguments.iter().map(String::as_str).collect();
    let number = statement.first();
    let typed = &statement.keyword;
    let id = ServerId::from_tokens(&words)
        .ok_or_else(|| format!("<{typed}> illegal server ID {number}"))?;
    match id.url.is_none() && !is_first {
        true => Err(format!(
            "<{typed}> unqualified server ID not allowed now {number}"
        )),
        false => Ok(id),
    }
}

/// Reads a URL without a name; an empty one adds nothing.
pub(super) fn referral(statement: &Statement) -> Result<Option<Sourced<String>>, String> {
    let url = statement.first();
    let after_host = url
        .split_once("://")
        .and_then(|(_, rest)| rest.split_once('/'));
    if after_host.is_some_and(|(_, path)| !path.is_empty()) {
        return Err(format!("<{}> invalid URL ({url})", statement.keyword));
    }
    let url = Some(url).filter(|url| !url.is_empty());
    Ok(url.map(|url| Sourced::new(url.to_owned(), statement.origin.clone())))
}

/// Adds a note about a statement.
pub(super) fn note(
    notes: &mut Vec<Note>,
    statement: &Statement,
    text: String,
) -> Result<(), String> {
    notes.push(Note::new(&statement.origin, text));
    Ok(())
}

/// Notes that a directive has no effect.
pub(super) fn ignore(
    statement: &Statement,
    notes: &mut Vec<Note>,
    reason: &str,
) -> Result<(), String> {
    note(notes, statement, format!("{}: {reason}", statement.keyword))
}

pub(super) const fn at_least_one(number: u32) -> NonZeroU32 {
    match NonZeroU32::new(number) {
        Some(number) => number,
        None => NonZeroU32::MIN,
    }
}
