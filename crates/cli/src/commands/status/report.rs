//! The state of a server as its own entries tell it.

use anyhow::bail;
use fulgurite_client::health::{self, HealthCheck};
use fulgurite_client::monitored::{count, fact, number, numbers};
use fulgurite_client::{Client, ClientError, Entry, Scope, SearchOutcome};

/// The state of a server.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) url: String,
    pub(super) version: String,
    pub(super) uptime_s: Option<u64>,
    pub(super) connections: Connections,
    pub(super) operations: Vec<Operations>,
    pub(super) databases: Vec<DatabaseState>,
    pub(super) consumers: Vec<ConsumerState>,
    /// The backups that the server makes by itself, if it does.
    pub(super) backups: Option<BackupState>,
    pub(super) warnings: Vec<String>,
}

#[derive(Debug, Default)]
pub(super) struct Connections {
    pub(super) open: u64,
    pub(super) total: u64,
    pub(super) max: u64,
}

/// Operations of one kind.
#[derive(Debug)]
pub(super) struct Operations {
    pub(super) kind: String,
    pub(super) initiated: u64,
    pub(super) completed: u64,
}

/// A database with a store.
#[derive(Debug, Default)]
pub(super) struct DatabaseState {
    pub(super) suffix: String,
    pub(super) folder: String,
    pub(super) entries: u64,
    pub(super) pages: u64,
    pub(super) pages_free: u64,
    pub(super) pages_max: u64,
    /// The share of the bound of the file that is in use, in percent.
    pub(super) percent: u64,
    /// Commits since the oldest state that a reader keeps, and for how many seconds it does.
    pub(super) oldest_reader: Option<(u64, u64)>,
    /// Updates refused because file or disk is full.
    pub(super) refused: u64,
}

/// The backups that the server makes by itself.
#[derive(Debug, Default)]
pub(super) struct BackupState {
    pub(super) directory: String,
    pub(super) interval_s: u64,
    /// The time of the newest one, its age in seconds, and its bytes.
    pub(super) last: Option<(String, u64, u64)>,
    pub(super) failures: u64,
    pub(super) trouble: Option<String>,
}

/// A provider that a database is copied from.
#[derive(Debug, Default)]
pub(super) struct ConsumerState {
    pub(super) provider: String,
    pub(super) phase: String,
    pub(super) last_contact: String,
    pub(super) quarantined: u64,
    pub(super) trouble: Option<String>,
}

impl Report {
    /// Asks the server of a URL.
    pub(super) fn read(url: String, client: &mut Client) -> anyhow::Result<Report> {
        let root = ask(client, "", Scope::Base, "(objectClass=*)")?;
        let Some(root) = root.entries.first() else {
            let reason = reason(&root);
            bail!("{url}: the root DSE cannot be read: {reason}");
        };
        let text = |name: &str| root.first(name).unwrap_or_default();
        let version = format!("{} {}", text("vendorName"), text("vendorVersion"));
        let mut report = Report {
            url,
            version: version.trim().to_owned(),
            ..Report::default()
        };
        report.read_monitor(client)?;
        Ok(report)
    }

    fn read_monitor(&mut self, client: &mut Client) -> anyhow::Result<()> {
        let top = ask(client, "cn=Monitor", Scope::Base, "(objectClass=*)")?;
        if top.entries.is_empty() {
            let reason = reason(&top);
            self.warnings.push(format!(
                "cn=Monitor cannot be read ({reason}): set monitor = true, and let this identity \
                 read it"
            ));
            return Ok(());
        }
        let mut branch = |name: &str, filter: &str| -> anyhow::Result<Vec<Entry>> {
            let base = format!("cn={name},cn=Monitor");
            Ok(ask(client, &base, Scope::Subtree, filter)?.entries)
        };
        for entry in branch("Time", "(monitoredInfo=*)")? {
            if named(&entry, "Uptime") {
                self.uptime_s = Some(number(&entry, "monitoredInfo"));
            }
        }
        let counters = branch("Connections", "(objectClass=monitorCounterObject)")?;
        for entry in &counters {
            let count = number(entry, "monitorCounter");
            let connections = &mut self.connections;
            match entry.first("cn").as_deref() {
                Some("Current") => connections.open = count,
                Some("Total") => connections.total = count,
                Some("Max File Descriptors") => connections.max = count,
                _ => {}
            }
        }
        for entry in branch("Operations", "(objectClass=monitorOperation)")? {
            self.operations.push(Operations {
                kind: entry.first("cn").unwrap_or_default(),
                initiated: number(&entry, "monitorOpInitiated"),
                completed: number(&entry, "monitorOpCompleted"),
            });
        }
        let databases = branch("Databases", "(objectClass=olmMDBDatabase)")?;
        let consumers = branch("Databases", "(objectClass=olmSyncReplInstance)")?;
        let backups = branch("Backups", "(objectClass=monitoredObject)")?;
        let logs = branch("Log", "(objectClass=monitoredObject)")?;
        let certificates = branch("TLS", "(objectClass=monitoredObject)")?;
        self.databases = databases.iter().map(database).collect();
        self.consumers = consumers.iter().map(consumer).collect();
        self.backups = backups.first().map(backup);
        self.warn(databases.iter().flat_map(health::of_database));
        self.warn(consumers.iter().map(health::of_consumer));
        self.warn([health::of_backups(backups.first())]);
        self.warn(certificates.first().and_then(health::of_certificate));
        self.warn(health::of_connections(&counters));
        self.warn(logs.first().and_then(health::of_log));
        Ok(())
    }

    /// Adds what a person should look at.
    fn warn(&mut self, checks: impl IntoIterator<Item = HealthCheck>) {
        let bad = checks.into_iter().filter(|check| !check.is_well);
        let texts = bad.map(|check| format!("{}: {}", check.name, check.text));
        self.warnings.extend(texts);
    }
}

fn database(entry: &Entry) -> DatabaseState {
    let oldest = fact(entry, "oldest reader").map(|text| numbers(&text));
    let oldest = match oldest.as_deref() {
        Some([transactions, seconds, ..]) => Some((*transactions, *seconds)),
        _ => None,
    };
    DatabaseState {
        suffix: entry.first("namingContexts").unwrap_or_default(),
        folder: entry.first("olmDbDirectory").unwrap_or_default(),
        entries: number(entry, "olmMDBEntries"),
        pages: number(entry, "olmMDBPagesUsed"),
        pages_free: number(entry, "olmMDBPagesFree"),
        pages_max: number(entry, "olmMDBPagesMax"),
        percent: health::file_percent(entry),
        oldest_reader: oldest,
        refused: count(entry, "refused updates").unwrap_or(0),
    }
}

fn backup(entry: &Entry) -> BackupState {
    let last = fact(entry, "last");
    BackupState {
        directory: fact(entry, "directory").unwrap_or_default(),
        interval_s: count(entry, "interval").unwrap_or(0),
        last: last.and_then(|last| Some((last, count(entry, "age")?, count(entry, "bytes")?))),
        failures: count(entry, "failures").unwrap_or(0),
        trouble: fact(entry, "trouble"),
    }
}

fn consumer(entry: &Entry) -> ConsumerState {
    let text = |name: &str| entry.first(name).unwrap_or_default();
    ConsumerState {
        provider: text("olmSRProviderURIList"),
        phase: text("olmSRSyncPhase"),
        last_contact: text("olmSRLastContact"),
        quarantined: count(entry, "quarantined").unwrap_or(0),
        trouble: fact(entry, "trouble"),
    }
}

/// Searches for all that entries show.
fn ask(
    client: &mut Client,
    base: &str,
    scope: Scope,
    filter: &str,
) -> Result<SearchOutcome, ClientError> {
    // A server shows its vendor to those who ask for it.
    let attributes = ["*", "+", "vendorName", "vendorVersion"];
    client.search(base, scope, filter, &attributes)
}

/// Returns why a search shows no entry.
fn reason(outcome: &SearchOutcome) -> &'static str {
    match outcome.result.is_success() {
        true => "no entry is shown",
        false => outcome.result.code.name(),
    }
}

fn named(entry: &Entry, name: &str) -> bool {
    entry.first("cn").as_deref() == Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(attributes: &[(&str, &[&str])]) -> Entry {
        let owned = |values: &[&str]| {
            values
                .iter()
                .map(|value| value.as_bytes().to_vec())
                .collect()
        };
        let attributes = attributes.iter();
        Entry {
            dn: String::new(),
            attributes: attributes
                .map(|(name, values)| ((*name).to_owned(), owned(values)))
                .collect(),
        }
    }

    #[test]
    fn states_and_warnings_come_from_the_same_entries() {
        let full = entry(&[
            ("namingContexts", &["dc=a"]),
            ("olmMDBPagesUsed", &["950"]),
            ("olmMDBPagesFree", &["100"]),
            ("olmMDBPagesMax", &["1000"]),
            (
                "monitoredInfo",
                &["mdb", "oldest reader: 5 transactions, 700 seconds"],
            ),
        ]);
        let plan = ["directory: /to", "interval: 3600", "failures: 0"];
        let last = ["last: 20261127020000Z", "bytes: 4096", "age: 7200"];
        let backups = entry(&[("monitoredInfo", &[&plan[..], &last].concat())]);
        let state = database(&full);
        assert_eq!((state.oldest_reader, state.percent), (Some((5, 700)), 85));
        let last = backup(&backups).last;
        assert_eq!(last, Some(("20261127020000Z".to_owned(), 7200, 4096)));
        let mut report = Report::default();
        report.warn(health::of_database(&full));
        report.warn([health::of_backups(Some(&backups))]);
        let expected = [
            "File of dc=a: It uses 85 % of its maximum size. Raise maxsize (storage.map_bytes_max).",
            "Readers of dc=a: One has kept an old state for 11 min 40 s, so pages cannot be used \
             again.",
        ];
        assert_eq!(report.warnings, expected);
    }
}
