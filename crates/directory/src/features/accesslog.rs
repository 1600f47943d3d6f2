//! The log of changes under its own name (slapd's overlay `accesslog`): the directives.
//!
//! The store's log has every update that succeeded, and `generated::access_log` shows it together
//! with the log of other operations.

use fulgurite_ldap::FilterBuf;
use fulgurite_policy::{OverlayLine, OverlaySettings, Sourced, overlay_truth};
use fulgurite_schema::{AttributeDescription, AttributeSelector, Dn, Filter, Schema};

use super::compilation::Compilation;
use crate::core::logged_operations::{LoggedKinds, LoggedOperations, OldValues};

/// The name that a database's log is shown under.
#[derive(Clone, Debug)]
pub(crate) struct AccessLogSettings {
    /// The name at the top, with its place in the configuration.
    pub(crate) suffix: Sourced<Dn>,
    /// `None` for the usual age of the oldest records.
    pub(crate) purge: Option<PurgeTimes>,
    /// The operations that it has.
    pub(crate) operations: LoggedOperations,
}

/// The times of the directive `logpurge`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PurgeTimes {
    /// The age of the oldest records in microseconds.
    pub(crate) age_us: u64,
    /// The interval at which older ones go, in microseconds.
    pub(crate) every_us: u64,
}

const MINUTE_US: u64 = 60 * 1_000_000;

impl AccessLogSettings {
    /// Compiles the directives.
    ///
    /// # Errors
    /// slapd's sentence about the first wrong directive.
    pub(super) fn compile(
        compilation: &Compilation<'_>,
        settings: &OverlaySettings,
    ) -> Result<AccessLogSettings, Sourced<String>> {
        let (mut suffix, mut purge) = (None, None);
        let mut logged = LoggedOperations::default();
        let schema = compilation.schema;
        let (mut filter, mut attributes) = (None, Vec::new());
        for line in &settings.lines {
            let read = match line.directive.keyword {
                "logdb" => log_database(schema, line).map(|dn| {
                    suffix = Some(Sourced::new(dn, line.origin.clone()));
                }),
                "logpurge" => purge_times(line).map(|times| purge = Some(times)),
                "logsuccess" => success(line).map(|only| logged.successes_only = only),
                "logops" => operations(line).map(|kinds| logged.everywhere.add(kinds)),
                "logbase" => log_base(schema, line).map(|base| logged.below.push(base)),
                "logold" => old_filter(schema, line).map(|one| filter = Some(one)),
                _ => old_attributes(schema, line).map(|some| attributes.extend(some)),
            };
            read.map_err(|text| Sourced::new(text, line.origin.clone()))?;
        }
        logged.old = filter.map(|filter| OldValues { filter, attributes });
        let missing = || missing_database(settings);
        Ok(AccessLogSettings {
            suffix: suffix.ok_or_else(missing)?,
            purge,
            operations: logged,
        })
    }
}

/// Returns slapd's sentence about an overlay whose database does not exist.
fn missing_database(settings: &OverlaySettings) -> Sourced<String> {
    Sourced::new(MISSING.to_owned(), settings.origin.clone())
}

/// The sentence about a missing database.
pub(crate) const MISSING: &str = "accesslog: \"logdb <suffix>\" missing or invalid.";

fn log_database(schema: &Schema, line: &OverlayLine) -> Result<Dn, String> {
    match line.arguments.as_slice() {
        [name] => {
            Dn::parse(schema, name).map_err(|_| "<logdb> invalid DN 21 (Invalid syntax)".to_owned())
        }
        [] => Err(MISSING.to_owned()),
        _ => Err("<logdb> extra cruft after <suffix>.".to_owned()),
    }
}

fn purge_times(line: &OverlayLine) -> Result<PurgeTimes, String> {
    match line.arguments.as_slice() {
        [age, interval] => {
            let invalid = || "<logpurge> handler exited with 1!".to_owned();
            Ok(PurgeTimes {
                every_us: duration_us(interval).ok_or_else(invalid)?,
                age_us: duration_us(age).ok_or_else(invalid)?,
            })
        }
        [] | [_] => Err("keyword <logpurge> missing <age> <interval> argument".to_owned()),
        _ => Err("<logpurge> extra cruft after <age> <interval>.".to_owned()),
    }
}

/// Reads `[ddddd+]hh:mm[:ss]`.
fn duration_us(text: &str) -> Option<u64> {
    let number = |text: &str, digits: std::ops::RangeInclusive<usize>| {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let fits = is_number && digits.contains(&text.len());
        fits.then(|| text.parse::<u64>().ok()).flatten()
    };
    let (days, time) = match text.split_once('+') {
        Some((days, time)) => (number(days, 1..=5)?, time),
        None => (0, text),
    };
    let parts = time.split(':').map(|part| number(part, 2..=2));
    let parts: Vec<u64> = parts.collect::<Option<_>>()?;
    let (hours, minutes, seconds) = match *parts.as_slice() {
        [hours, minutes] => (hours, minutes, 0),
        [hours, minutes, seconds] => (hours, minutes, seconds),
        _ => return None,
    };
    Some(((days * 24 + hours) * 60 + minutes) * MINUTE_US + seconds * 1_000_000)
}

fn success(line: &OverlayLine) -> Result<bool, String> {
    match line.arguments.as_slice() {
        [] => Err("keyword <logsuccess> missing <> argument".to_owned()),
        [text, ..] => {
            let truth = overlay_truth(text);
            truth.ok_or_else(|| "<logsuccess> invalid value".to_owned())
        }
    }
}

fn operations(line: &OverlayLine) -> Result<LoggedKinds, String> {
    if line.arguments.is_empty() {
        return Err("keyword <logops> missing <op|writes|reads|session|all> argument".to_owned());
    }
    let words = line.arguments.iter().map(String::as_str);
    kinds_of(words).ok_or_else(|| "<logops> handler exited with 1!".to_owned())
}

/// Returns the kinds that all these words mean; `None` if one is no such word.
fn kinds_of<'n>(words: impl Iterator<Item = &'n str>) -> Option<LoggedKinds> {
    let mut kinds = LoggedKinds::default();
    for word in words {
        kinds.add(LoggedKinds::of_word(word)?);
    }
    Some(kinds)
}

fn log_base(schema: &Schema, line: &OverlayLine) -> Result<(LoggedKinds, Dn), String> {
    let [operations, base] = line.arguments.as_slice() else {
        let text =
            "keyword <logbase> missing <op|writes|reads|session|all< <baseDN> argument".to_owned();
        return Err(text);
    };
    let kinds = kinds_of(operations.split('|'));
    let kinds = kinds.ok_or_else(|| format!("logbase invalid ops: {operations}"))?;
    let base = Dn::parse(schema, base).map_err(|_| format!("logbase invalid DN: {base}"))?;
    Ok((kinds, base))
}

fn old_filter(schema: &Schema, line: &OverlayLine) -> Result<Filter<AttributeSelector>, String> {
    let [filter] = line.arguments.as_slice() else {
        return Err("keyword <logold> missing <filter> argument".to_owned());
    };
    let filter = FilterBuf::parse(filter).map_err(|_| "bad filter!".to_owned())?;
    Ok(Filter::resolve(schema, &filter.filter()))
}

fn old_attributes(
    schema: &Schema,
    line: &OverlayLine,
) -> Result<Vec<AttributeDescription>, String> {
    if line.arguments.is_empty() {
        return Err("keyword <logoldattr> missing <attrs> argument".to_owned());
    }
    let described = line.arguments.iter().map(|name| {
        let described = schema.describe_one(name.as_bytes());
        described.map_err(|error| format!("logoldattr <{name}>: {}", error.reason()))
    });
    described.collect()
}
