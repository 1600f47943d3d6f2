//! The log of changes under its own name (slapd's overlay `accesslog`): the directives.
//!
//! The store's log has every update that succeeded, and `generated::access_log` shows it. It has no
//! other operations and no old values. Directives that ask for these get a warning.

use fulgurite_ldap::FilterBuf;
use fulgurite_policy::{OverlayLine, OverlaySettings, Sourced, overlay_truth};
use fulgurite_schema::{Dn, Schema};

use super::compilation::Compilation;

/// The name that a database's log is shown under.
#[derive(Clone, Debug)]
pub(crate) struct AccessLogSettings {
    /// The name at the top, with its place in the configuration.
    pub(crate) suffix: Sourced<Dn>,
    /// `None` for the usual age of the oldest records.
    pub(crate) purge: Option<PurgeTimes>,
}

/// The times of the directive `logpurge`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PurgeTimes {
    /// The age of the oldest records in microseconds.
    pub(crate) age_us: u64,
    /// The interval at which older ones go, in microseconds.
    pub(crate) every_us: u64,
}

/// The operations that directives name, and whether all of them are updates.
const OPERATIONS: [(&str, bool); 14] = [
    ("abandon", false),
    ("add", true),
    ("bind", false),
    ("compare", false),
    ("delete", true),
    ("extended", false),
    ("modify", true),
    ("modrdn", true),
    ("search", false),
    ("unbind", false),
    ("writes", true),
    ("reads", false),
    ("session", false),
    ("all", false),
];

const MINUTE_US: u64 = 60 * 1_000_000;

impl AccessLogSettings {
    /// Compiles the directives.
    ///
    /// # Errors
    /// slapd's sentence about the first wrong directive.
    pub(super) fn compile(
        compilation: &mut Compilation<'_>,
        settings: &OverlaySettings,
    ) -> Result<AccessLogSettings, Sourced<String>> {
        let (mut suffix, mut purge, mut successes_only) = (None, None, false);
        let schema = compilation.schema;
        for line in &settings.lines {
            let remark = match line.directive.keyword {
                "logdb" => log_database(schema, line).map(|dn| {
                    suffix = Some(Sourced::new(dn, line.origin.clone()));
                    None
                }),
                "logpurge" => purge_times(line).map(|times| {
                    purge = Some(times);
                    None
                }),
                "logsuccess" => success(line).map(|only| {
                    successes_only = only;
                    None
                }),
                "logops" => operations(line),
                "logbase" => log_base(schema, line),
                "logold" => old_filter(line),
                _ => old_attributes(schema, line),
            };
            let remark = remark.map_err(|text| Sourced::new(text, line.origin.clone()))?;
            if let Some(text) = remark {
                compilation.warn(text, &line.origin);
            }
        }
        if !successes_only {
            let text = "accesslog: refused operations are not logged: write logsuccess TRUE";
            compilation.warn(text.to_owned(), &settings.origin);
        }
        let missing = || missing_database(settings);
        Ok(AccessLogSettings {
            suffix: suffix.ok_or_else(missing)?,
            purge,
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

/// Returns a remark on operations that the log does not have. An error is the name that is no
/// operation.
fn not_logged<'n>(
    keyword: &str,
    names: impl Iterator<Item = &'n str>,
) -> Result<Option<String>, &'n str> {
    let mut others = Vec::new();
    for name in names {
        let mut known = OPERATIONS.iter();
        let row = known.find(|(known, _)| known.eq_ignore_ascii_case(name));
        let (name, is_update) = row.ok_or(name)?;
        if !is_update {
            others.push(*name);
        }
    }
    let text = || {
        let others = others.join(" ");
        format!("accesslog: {keyword} {others}: only updates are logged")
    };
    Ok((!others.is_empty()).then(text))
}

fn operations(line: &OverlayLine) -> Result<Option<String>, String> {
    if line.arguments.is_empty() {
        return Err("keyword <logops> missing <op|writes|reads|session|all> argument".to_owned());
    }
    let names = line.arguments.iter().map(String::as_str);
    not_logged("logops", names).map_err(|_| "<logops> handler exited with 1!".to_owned())
}

fn log_base(schema: &Schema, line: &OverlayLine) -> Result<Option<String>, String> {
    let [operations, base] = line.arguments.as_slice() else {
        let text =
            "keyword <logbase> missing <op|writes|reads|session|all< <baseDN> argument".to_owned();
        return Err(text);
    };
    let remark = not_logged("logbase", operations.split('|'))
        .map_err(|_| format!("logbase invalid ops: {operations}"))?;
    Dn::parse(schema, base).map_err(|_| format!("logbase invalid DN: {base}"))?;
    Ok(remark)
}

/// The remark on directives about old values.
const NO_OLD_VALUES: &str = "old values are not logged";

fn old_filter(line: &OverlayLine) -> Result<Option<String>, String> {
    let [filter] = line.arguments.as_slice() else {
        return Err("keyword <logold> missing <filter> argument".to_owned());
    };
    FilterBuf::parse(filter).map_err(|_| "bad filter!".to_owned())?;
    Ok(Some(format!("accesslog: logold: {NO_OLD_VALUES}")))
}

fn old_attributes(schema: &Schema, line: &OverlayLine) -> Result<Option<String>, String> {
    if line.arguments.is_empty() {
        return Err("keyword <logoldattr> missing <attrs> argument".to_owned());
    }
    for name in &line.arguments {
        let described = schema.describe_one(name.as_bytes());
        described.map_err(|error| format!("logoldattr <{name}>: {}", error.reason()))?;
    }
    Ok(Some(format!("accesslog: logoldattr: {NO_OLD_VALUES}")))
}
