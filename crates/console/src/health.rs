//! The state of the server: what a person should look at, as `fulgurite status` tells it.

use fulgurite_client::{Client, Entry};

use crate::ldap::LdapError;
use crate::monitor::{branch, count, duration, fact, number, numbers};

/// A share of the bound of a file or of a disk that is worth a warning, in percent.
const FULL_WARNING: u64 = 80;

/// Seconds for which a reader may keep a state of the data without a warning.
const READER_WARNING_S: u64 = 600;

/// Days before the end of a certificate at which a warning begins.
const CERTIFICATE_WARNING_DAYS: u64 = 30;

const DAY_S: u64 = 86_400;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HealthCheck {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) is_well: bool,
}

impl HealthCheck {
    fn new(name: impl Into<String>, is_well: bool, text: impl Into<String>) -> HealthCheck {
        HealthCheck {
            name: name.into(),
            text: text.into(),
            is_well,
        }
    }
}

/// Looks at databases, backups, copies and the certificate.
pub(crate) fn look(
    client: &mut Client,
    certificate_end_s: Option<u64>,
    now_s: u64,
) -> Result<Vec<HealthCheck>, LdapError> {
    let mut checks = Vec::new();
    let databases = branch(client, "Databases", "(objectClass=olmMDBDatabase)")?;
    databases
        .iter()
        .for_each(|entry| database(entry, &mut checks));
    let consumers = branch(client, "Databases", "(objectClass=olmSyncReplInstance)")?;
    checks.extend(consumers.iter().map(consumer));
    let backups = branch(client, "Backups", "(objectClass=monitoredObject)")?;
    checks.push(match backups.first() {
        Some(entry) => backup(entry),
        None => HealthCheck::new(
            "Backups",
            true,
            "The server makes none by itself (backup.to).",
        ),
    });
    checks.extend(certificate_end_s.map(|end_s| certificate(end_s, now_s)));
    Ok(checks)
}

fn database(entry: &Entry, checks: &mut Vec<HealthCheck>) {
    let suffix = entry.first("namingContexts").unwrap_or_default();
    let used = number(entry, "olmMDBPagesUsed").saturating_sub(number(entry, "olmMDBPagesFree"));
    let percent = used.saturating_mul(100) / number(entry, "olmMDBPagesMax").max(1);
    let file = format!("{percent} % of the bound of its file are in use");
    checks.push(match percent >= FULL_WARNING {
        true => HealthCheck::new(
            format!("File of {suffix}"),
            false,
            format!("{file}. Raise maxsize (storage.map_bytes_max)."),
        ),
        false => HealthCheck::new(format!("File of {suffix}"), true, format!("{file}.")),
    });
    let disk = fact(entry, "disk").map(|text| numbers(&text));
    if let Some([free, size, ..]) = disk.as_deref() {
        let percent = free.saturating_mul(100) / (*size).max(1);
        let text = format!("{percent} % of its disk are free.");
        let is_well = percent > 100 - FULL_WARNING;
        checks.push(HealthCheck::new(format!("Disk of {suffix}"), is_well, text));
    }
    let refused = count(entry, "refused updates").unwrap_or(0);
    if refused > 0 {
        let text = format!("{refused} were refused for lack of room since the start.");
        checks.push(HealthCheck::new(
            format!("Updates of {suffix}"),
            false,
            text,
        ));
    }
    let reader = fact(entry, "oldest reader").map(|text| numbers(&text));
    if let Some([transactions, seconds, ..]) = reader.as_deref() {
        let is_old = *seconds >= READER_WARNING_S && *transactions > 0;
        let text = match (is_old, *transactions) {
            (true, _) => format!(
                "One has kept an old state for {}, so pages cannot be used again.",
                duration(*seconds)
            ),
            (false, 0) => "None keeps an old state.".to_owned(),
            (false, _) => format!("The oldest state is {} old.", duration(*seconds)),
        };
        checks.push(HealthCheck::new(
            format!("Readers of {suffix}"),
            !is_old,
            text,
        ));
    }
}

/// Returns the state of the copy from one provider.
fn consumer(entry: &Entry) -> HealthCheck {
    let provider = entry.first("olmSRProviderURIList").unwrap_or_default();
    let phase = entry.first("olmSRSyncPhase").unwrap_or_default();
    let quarantined = count(entry, "quarantined").unwrap_or(0);
    let text = match fact(entry, "trouble") {
        Some(trouble) => trouble,
        None if phase == "Gave up" => "The retry list has ended.".to_owned(),
        None if quarantined > 0 => format!("{quarantined} entries cannot be stored."),
        None => {
            return HealthCheck::new(format!("Copy from {provider}"), true, format!("{phase}."));
        }
    };
    HealthCheck::new(format!("Copy from {provider}"), false, text)
}

fn backup(entry: &Entry) -> HealthCheck {
    let interval_s = count(entry, "interval").unwrap_or(0);
    if let Some(trouble) = fact(entry, "trouble") {
        return HealthCheck::new("Backups", false, format!("The last one failed: {trouble}"));
    }
    match count(entry, "age") {
        None => HealthCheck::new("Backups", false, "There is none yet."),
        Some(age_s) => {
            let text = format!("The newest is {} old.", duration(age_s));
            HealthCheck::new("Backups", age_s <= interval_s.saturating_mul(2), text)
        }
    }
}

fn certificate(end_s: u64, now_s: u64) -> HealthCheck {
    let Some(left_s) = end_s.checked_sub(now_s) else {
        return HealthCheck::new("Certificate", false, "It has expired.");
    };
    let days = left_s / DAY_S;
    let text = format!("It is valid for {days} more days.");
    HealthCheck::new("Certificate", days >= CERTIFICATE_WARNING_DAYS, text)
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
                ],
            ),
        ]);
        let mut checks = Vec::new();
        database(&full, &mut checks);
        assert_eq!(checks.len(), 4);
        assert!(checks.iter().all(|check| !check.is_well), "{checks:?}");
        checks.clear();
        let well = [
            "oldest reader: 0 transactions, 0 seconds",
            "disk: 90 bytes free of 100",
        ];
        database(
            &entry(&[("olmMDBPagesMax", &["1"]), ("monitoredInfo", &well)]),
            &mut checks,
        );
        assert_eq!(checks.len(), 3);
        assert!(checks.iter().all(|check| check.is_well), "{checks:?}");
    }

    #[test]
    fn copies_backups_and_certificates_are_told() {
        let of = |facts: &[&str]| entry(&[("monitoredInfo", facts)]);
        assert!(consumer(&of(&[])).is_well);
        assert!(!consumer(&of(&["trouble: gone"])).is_well);
        assert!(!consumer(&of(&["quarantined: 2"])).is_well);
        assert!(!consumer(&entry(&[("olmSRSyncPhase", &["Gave up"])])).is_well);
        assert!(backup(&of(&["interval: 60", "age: 120"])).is_well);
        assert!(!backup(&of(&["interval: 60", "age: 121"])).is_well);
        assert!(!backup(&of(&["interval: 60"])).is_well);
        assert!(!backup(&of(&["interval: 60", "age: 1", "trouble: full"])).is_well);
        assert!(certificate(31 * DAY_S, 0).is_well);
        assert!(!certificate(29 * DAY_S, 0).is_well && !certificate(1, 2).is_well);
    }
}
