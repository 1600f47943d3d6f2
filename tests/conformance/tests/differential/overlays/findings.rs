//! The differences of two answers, one for each attribute of each entry.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::accepted::Fields;
use crate::compare::comparable;
use crate::conversation::{Answer, Attributes};

use super::hashes;

/// Seconds by which times of both servers may differ.
const SECONDS_APART: i64 = 4;
/// Attributes whose values are times.
const TIMES: [&str; 8] = [
    "pwdchangedtime",
    "pwdfailuretime",
    "pwdaccountlockedtime",
    "pwdgraceusetime",
    "pwdlastsuccess",
    "pwdstarttime",
    "pwdendtime",
    "pwdhistory",
];
/// Attributes whose values have no order: the server computes them.
const UNORDERED: [&str; 2] = ["memberof", "pwdhistory"];

/// Entries by name.
pub(crate) type Entries = BTreeMap<String, Attributes>;

/// One difference.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) world: &'static str,
    pub(crate) episode: u64,
    pub(crate) operation: &'static str,
    /// `code`, `text`, `matched`, `controls`, `entry`, `attribute NAME` or `order NAME`.
    pub(crate) what: String,
    /// The entry.
    pub(crate) dn: String,
    pub(crate) theirs: String,
    pub(crate) ours: String,
    pub(crate) request: String,
}

impl Finding {
    /// In short, for counting.
    pub(crate) fn kind(&self) -> String {
        let short = |text: &str| text.chars().take(70).collect::<String>();
        let values = match self.what.as_str() {
            "code" | "text" | "controls" => {
                format!(": {} / {}", short(&self.theirs), short(&self.ours))
            }
            _ => String::new(),
        };
        format!("{} {} {}{values}", self.world, self.operation, self.what)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} episode {}: {}\n  {} of {:?}\n    reference {}\n    ours      {}",
            self.world, self.episode, self.request, self.what, self.dn, self.theirs, self.ours
        )
    }
}

impl Fields for Finding {
    const NAMES: &'static [&'static str] = &[
        "world",
        "operation",
        "what",
        "dn",
        "theirs",
        "ours",
        "request",
    ];

    fn fits(&self, field: &str, is_match: &dyn Fn(&str) -> bool) -> bool {
        is_match(match field {
            "world" => self.world,
            "operation" => self.operation,
            "what" => &self.what,
            "dn" => &self.dn,
            "theirs" => &self.theirs,
            "ours" => &self.ours,
            _ => &self.request,
        })
    }
}

/// The part that differs, the entry, and both sides.
pub(crate) type Part = (String, String, String, String);

/// Returns the parts of two answers that differ.
pub(crate) fn parts(theirs: &Answer, ours: &Answer) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut note = |what: &str, theirs: String, ours: String| {
        if theirs != ours {
            parts.push((what.to_owned(), String::new(), theirs, ours));
        }
    };
    let code = |answer: &Answer| match answer.code {
        None => "closed".to_owned(),
        Some(code) => format!("{code} {}", answer.diagnostic),
    };
    if theirs.code == ours.code {
        note("text", theirs.diagnostic.clone(), ours.diagnostic.clone());
    } else {
        note("code", code(theirs), code(ours));
        return parts;
    }
    note("matched", theirs.matched.clone(), ours.matched.clone());
    if !same_controls(&theirs.controls, &ours.controls) {
        let text = |answer: &Answer| format!("{:?}", answer.controls);
        note("controls", text(theirs), text(ours));
    }
    let value = |answer: &Answer| format!("{:?}", answer.value);
    note("value", value(theirs), value(ours));
    parts.extend(entry_parts(&by_name(theirs), &by_name(ours)));
    parts
}

/// Returns the entries of an answer by their names.
pub(crate) fn by_name(answer: &Answer) -> Entries {
    answer.entries.iter().cloned().collect()
}

/// Returns true if controls are the same, but for the seconds of a warning.
fn same_controls(theirs: &BTreeMap<String, String>, ours: &BTreeMap<String, String>) -> bool {
    let seconds = |text: &str| text.strip_prefix("expires in ")?.parse::<i64>().ok();
    theirs.len() == ours.len()
        && theirs
            .iter()
            .zip(ours)
            .all(|((oid, theirs), (other, ours))| {
                let is_near = match (seconds(theirs), seconds(ours)) {
                    (Some(theirs), Some(ours)) => (theirs - ours).abs() <= SECONDS_APART,
                    _ => false,
                };
                oid == other && (theirs == ours || is_near)
            })
}

fn entry_parts(theirs: &Entries, ours: &Entries) -> Vec<Part> {
    let mut parts = Vec::new();
    let names: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
    for name in names {
        match (theirs.get(name), ours.get(name)) {
            (Some(theirs), Some(ours)) => attribute_parts(name, theirs, ours, &mut parts),
            (theirs, _) => {
                let (one, other) = ("found".to_owned(), "missing".to_owned());
                let (theirs, ours) = match theirs {
                    Some(_) => (one, other),
                    None => (other, one),
                };
                parts.push(("entry".to_owned(), name.clone(), theirs, ours));
            }
        }
    }
    parts
}

fn attribute_parts(dn: &str, theirs: &Attributes, ours: &Attributes, parts: &mut Vec<Part>) {
    let names: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
    for name in names {
        let values = |all: &Attributes| {
            let texts = |values: &Vec<Vec<u8>>| shown(name, values);
            all.get(name).map(texts).unwrap_or_default()
        };
        let (mut theirs, mut ours) = (values(theirs), values(ours));
        let mut what = format!("attribute {name}");
        if TIMES.contains(&name.as_str()) && are_near(&theirs, &ours) {
            continue;
        }
        let sorted = |values: &[String]| values.iter().cloned().collect::<BTreeSet<_>>();
        if theirs != ours && theirs.len() == ours.len() && sorted(&theirs) == sorted(&ours) {
            what = format!("order {name}");
        }
        if UNORDERED.contains(&name.as_str()) {
            theirs.sort();
            ours.sort();
        }
        if theirs != ours {
            parts.push((what, dn.to_owned(), theirs.join(" | "), ours.join(" | ")));
        }
    }
}

/// Values as they are compared.
fn shown(name: &str, values: &[Vec<u8>]) -> Vec<String> {
    let values = values.iter().map(|value| match name {
        "userpassword" => hashes::named(value),
        "pwdhistory" => hashes::kept(value),
        _ => comparable(name, value),
    });
    values.collect()
}

/// Returns true if the values are the same but for their times, and these are near.
fn are_near(theirs: &[String], ours: &[String]) -> bool {
    let split = |values: &[String]| {
        let mut split: Vec<(String, i64)> =
            values.iter().map(|value| rest_and_time(value)).collect();
        split.sort();
        split
    };
    theirs.len() == ours.len()
        && split(theirs)
            .iter()
            .zip(split(ours))
            .all(|(theirs, ours)| theirs.0 == ours.0 && (theirs.1 - ours.1).abs() <= SECONDS_APART)
}

/// Splits a value into the text behind its time, and the seconds of the time.
fn rest_and_time(value: &str) -> (String, i64) {
    let (time, rest) = value.split_at_checked(14).unwrap_or((value, ""));
    let rest = rest.split_once("Z").map_or(rest, |(_, rest)| rest);
    (rest.to_owned(), seconds(time).unwrap_or(0))
}

/// Returns the seconds of a time `YYYYMMDDhhmmss` since some day.
pub(crate) fn seconds(time: &str) -> Option<i64> {
    let part = |from: usize, to: usize| time.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (part(0, 4)?, part(4, 6)?, part(6, 8)?);
    // Counts days from the first of March, as Howard Hinnant's algorithm does.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    Some(((days * 24 + part(8, 10)?) * 60 + part(10, 12)?) * 60 + part(12, 14)?)
}

/// Returns the time that many seconds earlier, in the same form; others stay.
pub(crate) fn earlier(value: &str, by: i64) -> String {
    let (time, rest) = value.split_at_checked(14).unwrap_or((value, ""));
    match seconds(time) {
        Some(seconds) if !time.starts_with("0000") => format!("{}{rest}", text(seconds - by)),
        _ => value.to_owned(),
    }
}

fn text(seconds: i64) -> String {
    let days = seconds.div_euclid(86_400);
    // Guesses low, then counts up: the days of a year are few.
    let mut year = (days - 366) / 366;
    let start = |year: i64, month: i64, day: i64| {
        super::findings::seconds(&format!("{year:04}{month:02}{day:02}000000")).unwrap_or(0)
    };
    while start(year + 1, 1, 1) <= seconds {
        year += 1;
    }
    let mut month = 1;
    while month < 12 && start(year, month + 1, 1) <= seconds {
        month += 1;
    }
    let day = 1 + (seconds - start(year, month, 1)) / 86_400;
    let rest = seconds.rem_euclid(86_400);
    let (hours, minutes) = (rest / 3600, rest / 60 % 60);
    format!(
        "{year:04}{month:02}{day:02}{hours:02}{minutes:02}{:02}",
        rest % 60
    )
}

#[test]
fn times_go_back() {
    assert_eq!(earlier("20260301000000Z", 1), "20260228235959Z");
    assert_eq!(earlier("20260101003000.5Z#x", 3600), "20251231233000.5Z#x");
    assert_eq!(earlier("000001010000Z", 3600), "000001010000Z");
    let (rest, time) = rest_and_time("20261122192732Z#1.3#3#abc");
    assert_eq!(rest, "#1.3#3#abc");
    assert_eq!(seconds("20261122192733").map(|later| later - time), Some(1));
}
