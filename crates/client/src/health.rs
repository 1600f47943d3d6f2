//! The health of a server: what a person should look at, judged by the entries of `cn=Monitor`.
//!
//! `fulgurite status` and the console show the same judgement.

use crate::entry::Entry;
use crate::monitored::{count, duration, fact, number, numbers};

/// A share of the bound of a file, or of a disk, that is worth a warning, in percent.
const FULL_WARNING: u64 = 80;

/// A share of the connections that is worth a warning, in percent. The alert has the same.
const CONNECTIONS_WARNING: u64 = 90;

/// Seconds for which a reader may keep a state of the data without a warning.
const READER_WARNING_S: u64 = 600;

/// Days before the end of a certificate at which a warning begins.
pub const CERTIFICATE_WARNING_DAYS: u64 = 30;

const DAY_S: u64 = 86_400;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthCheck {
    /// The thing: `Disk of dc=example,dc=com`.
    pub name: String,
    /// Its state, as a sentence.
    pub text: String,
    /// False if a person should look at it.
    pub is_well: bool,
}

impl HealthCheck {
    /// Makes a check.
    pub fn new(name: impl Into<String>, is_well: bool, text: impl Into<String>) -> HealthCheck {
        HealthCheck {
            name: name.into(),
            text: text.into(),
            is_well,
        }
    }
}

/// Judges a database with a store, by its entry.
#[must_use]
pub fn of_database(entry: &Entry) -> Vec<HealthCheck> {
    let suffix = entry.first("namingContexts").unwrap_or_default();
    let checks = [
        Some(file(entry, &suffix)),
        disk(entry, &suffix),
        refused_updates(entry, &suffix),
        readers(entry, &suffix),
        change(entry, &suffix),
    ];
    checks.into_iter().flatten().collect()
}

/// Returns the share of the bound of a database's file that is in use, in percent.
#[must_use]
pub fn file_percent(entry: &Entry) -> u64 {
    let used = number(entry, "olmMDBPagesUsed").saturating_sub(number(entry, "olmMDBPagesFree"));
    used.saturating_mul(100) / number(entry, "olmMDBPagesMax").max(1)
}

/// Returns a share as text: `85 %`, or `less than 1 %`.
#[must_use]
pub fn share(percent: u64) -> String {
    match percent {
        0 => "less than 1 %".to_owned(),
        percent => format!("{percent} %"),
    }
}

fn file(entry: &Entry, suffix: &str) -> HealthCheck {
    let percent = file_percent(entry);
    let is_well = percent < FULL_WARNING;
    let remedy = match is_well {
        true => "",
        false => " Raise maxsize (storage.map_bytes_max).",
    };
    let share = share(percent);
    let text = format!("It uses {share} of its maximum size.{remedy}");
    HealthCheck::new(format!("File of {suffix}"), is_well, text)
}

fn disk(entry: &Entry, suffix: &str) -> Option<HealthCheck> {
    let numbers = numbers(&fact(entry, "disk")?);
    let [free, size, ..] = numbers.as_slice() else {
        return None;
    };
    let percent = free.saturating_mul(100) / (*size).max(1);
    let text = format!("{percent} % of its disk is free.");
    let is_well = percent > 100 - FULL_WARNING;
    Some(HealthCheck::new(format!("Disk of {suffix}"), is_well, text))
}

fn refused_updates(entry: &Entry, suffix: &str) -> Option<HealthCheck> {
    let refused = count(entry, "refused updates").filter(|count| *count > 0)?;
    let text = format!("{refused} were refused for lack of room since the start.");
    Some(HealthCheck::new(
        format!("Updates of {suffix}"),
        false,
        text,
    ))
}

fn readers(entry: &Entry, suffix: &str) -> Option<HealthCheck> {
    let numbers = numbers(&fact(entry, "oldest reader")?);
    let [transactions, seconds, ..] = numbers.as_slice() else {
        return None;
    };
    let age = duration(*seconds);
    let is_old = *seconds >= READER_WARNING_S && *transactions > 0;
    let text = match (is_old, *transactions) {
        (true, _) => {
            format!("One has kept an old state for {age}, so pages cannot be used again.")
        }
        (false, 0) => "None keeps an old state.".to_owned(),
        (false, _) => format!("The oldest state is {age} old."),
    };
    Some(HealthCheck::new(
        format!("Readers of {suffix}"),
        !is_old,
        text,
    ))
}

fn change(entry: &Entry, suffix: &str) -> Option<HealthCheck> {
    let ahead = numbers(&fact(entry, "change ahead of the clock")?);
    let ahead = duration(ahead.first().copied()?);
    let text = format!("The last change is {ahead} ahead of the clock. Set the clocks.");
    Some(HealthCheck::new(format!("Clock of {suffix}"), false, text))
}

/// Judges the copy from one provider, by its entry.
#[must_use]
pub fn of_consumer(entry: &Entry) -> HealthCheck {
    let provider = entry.first("olmSRProviderURIList").unwrap_or_default();
    let phase = entry.first("olmSRSyncPhase").unwrap_or_default();
    let quarantined = count(entry, "quarantined").unwrap_or(0);
    let mut troubles = Vec::new();
    troubles.extend(fact(entry, "trouble"));
    if phase == "Gave up" {
        troubles.push("The retry list has ended.".to_owned());
    }
    if quarantined > 0 {
        troubles.push(format!("{quarantined} entries cannot be stored."));
    }
    let name = format!("Copy from {provider}");
    match troubles.is_empty() {
        true => HealthCheck::new(name, true, format!("{phase}.")),
        false => HealthCheck::new(name, false, troubles.join(" ")),
    }
}

/// Judges the backups that the server makes by itself, by their entry; there is none without.
#[must_use]
pub fn of_backups(entry: Option<&Entry>) -> HealthCheck {
    let check = |is_well, text: String| HealthCheck::new("Backups", is_well, text);
    let Some(entry) = entry else {
        return check(
            true,
            "The server makes none by itself; backup.to would begin them.".to_owned(),
        );
    };
    let interval_s = count(entry, "interval").unwrap_or(0);
    let (is_young, age) = match count(entry, "age") {
        None => (false, "There is none yet.".to_owned()),
        Some(age_s) => {
            let text = format!("The newest is {} old.", duration(age_s));
            (age_s <= interval_s.saturating_mul(2), text)
        }
    };
    match fact(entry, "trouble") {
        None => check(is_young, age),
        Some(trouble) => check(false, format!("{age} The last one failed: {trouble}")),
    }
}

/// Judges the number of open connections, by the counters below `cn=Connections`.
#[must_use]
pub fn of_connections(counters: &[Entry]) -> Option<HealthCheck> {
    let counter = |name: &str| {
        let mut counters = counters.iter();
        let found = counters.find(|entry| entry.first("cn").as_deref() == Some(name));
        found.map(|entry| number(entry, "monitorCounter"))
    };
    let (open, max) = (counter("Current")?, counter("Max File Descriptors")?);
    let is_well = open.saturating_mul(100) < max.saturating_mul(CONNECTIONS_WARNING);
    let remedy = match is_well {
        true => "",
        false => " Further clients are refused at the bound: see limits.idle, limits.connections.",
    };
    let text = format!("{open} of {max} are open.{remedy}");
    Some(HealthCheck::new("Connections", is_well, text))
}

/// Judges the log, by its entry. There is none unless lines were lost.
#[must_use]
pub fn of_log(entry: &Entry) -> Option<HealthCheck> {
    let lost = count(entry, "lost lines").filter(|count| *count > 0)?;
    let text = format!("{lost} lines could not be written to its file since the start.");
    Some(HealthCheck::new("Log", false, text))
}

/// Judges the certificate in force, by its entry. The server tells how long it is valid, so the
/// clock of another machine does not matter.
#[must_use]
pub fn of_certificate(entry: &Entry) -> Option<HealthCheck> {
    let check = |is_well, text: String| HealthCheck::new("Certificate", is_well, text);
    if fact(entry, "expired").is_some() {
        let text = "It has expired, and clients refuse it. Replace the file.";
        return Some(check(false, text.to_owned()));
    }
    let days = count(entry, "seconds left")? / DAY_S;
    let text = format!("It is valid for {days} more days.");
    Some(check(days >= CERTIFICATE_WARNING_DAYS, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(attributes: &[(&str, &[&str])]) -> Entry {
        let owned = |values: &[&str]| values.iter().map(|v| v.as_bytes().to_vec()).collect();
        let attributes = attributes.iter();
        Entry {
            dn: String::new(),
            attributes: attributes
                .map(|(name, values)| ((*name).to_owned(), owned(values)))
                .collect(),
        }
    }

    #[test]
    fn full_files_old_readers_and_full_disks_are_told() {
        let full = entry(&[
            ("namingContexts", &["dc=a"]),
            ("olmMDBPagesUsed", &["950"]),
            ("olmMDBPagesFree", &["100"]),
            ("olmMDBPagesMax", &["1000"]),
            (
                "monitoredInfo",
                &[
                    "oldest reader: 5 transactions, 700 seconds",
                    "refused updates: 3",
                    "disk: 10 bytes free of 100",
                    "change ahead of the clock: 3600 seconds",
                ],
            ),
        ]);
        let checks = of_database(&full);
        assert_eq!(checks.len(), 5);
        assert!(checks.iter().all(|check| !check.is_well), "{checks:?}");
        assert!(
            checks[0]
                .text
                .starts_with("It uses 85 % of its maximum size. ")
        );
        let well = [
            "oldest reader: 0 transactions, 0 seconds",
            "disk: 90 bytes free of 100",
            "refused updates: 0",
        ];
        let checks = of_database(&entry(&[
            ("olmMDBPagesMax", &["1"]),
            ("monitoredInfo", &well),
        ]));
        assert_eq!(checks.len(), 3);
        assert!(checks.iter().all(|check| check.is_well), "{checks:?}");
        assert_eq!(checks[0].text, "It uses less than 1 % of its maximum size.");
    }

    #[test]
    fn copies_backups_and_certificates_are_told() {
        let of = |facts: &[&str]| entry(&[("monitoredInfo", facts)]);
        assert!(of_consumer(&of(&[])).is_well);
        assert!(!of_consumer(&of(&["quarantined: 2"])).is_well);
        let stuck = of_consumer(&entry(&[
            ("olmSRProviderURIList", &["ldap://p"]),
            ("olmSRSyncPhase", &["Gave up"]),
            ("monitoredInfo", &["quarantined: 2", "trouble: gone"]),
        ]));
        let told = "gone The retry list has ended. 2 entries cannot be stored.";
        assert_eq!((stuck.is_well, stuck.text.as_str()), (false, told));
        let backup = |facts: &[&str]| of_backups(Some(&of(facts))).is_well;
        assert!(backup(&["interval: 60", "age: 120"]));
        assert!(!backup(&["interval: 60", "age: 121"]));
        assert!(!backup(&["interval: 60"]));
        assert!(!backup(&["interval: 60", "age: 1", "trouble: full"]));
        assert!(of_backups(None).is_well);
        let certificate = |fact: String| of_certificate(&of(&[&fact])).map(|check| check.is_well);
        assert_eq!(
            certificate(format!("seconds left: {}", 31 * DAY_S)),
            Some(true)
        );
        assert_eq!(
            certificate(format!("seconds left: {}", 29 * DAY_S)),
            Some(false)
        );
        assert_eq!(
            certificate("expired: 20200101000000Z".to_owned()),
            Some(false)
        );
        assert_eq!(certificate("other: 1".to_owned()), None);
        let connections = |open: &str| {
            let counter =
                |name: &str, count: &str| entry(&[("cn", &[name]), ("monitorCounter", &[count])]);
            let counters = [
                counter("Current", open),
                counter("Max File Descriptors", "100"),
            ];
            of_connections(&counters).map(|check| check.is_well)
        };
        assert_eq!(
            (connections("89"), connections("90")),
            (Some(true), Some(false))
        );
        assert_eq!(of_connections(&[]), None);
        let log = |fact: &str| of_log(&of(&[fact])).map(|check| check.is_well);
        assert_eq!(
            (log("lost lines: 2"), log("lost lines: 0")),
            (Some(false), None)
        );
    }
}
