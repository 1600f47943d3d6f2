//! The state of a server as its own entries tell it.

use anyhow::bail;
use fulgurite_client::{Client, ClientError, Entry, Scope, SearchOutcome};

/// A share of the bound of a file that is worth a warning, in percent.
const FILE_WARNING: u64 = 80;

/// Seconds for which a reader may keep a state of the data without a warning.
const READER_WARNING_S: u64 = 600;

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

impl DatabaseState {
    /// Returns the share of the bound of the file that is in use, in percent.
    pub(super) fn percent(&self) -> u64 {
        let used = self.pages.saturating_sub(self.pages_free);
        used * 100 / self.pages_max.max(1)
    }
}

impl BackupState {
    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(trouble) = &self.trouble {
            warnings.push(format!("the last backup failed: {trouble}"));
        }
        match &self.last {
            None => warnings.push("there is no backup yet".to_owned()),
            Some((_, age_s, _)) if *age_s > 2 * self.interval_s => {
                warnings.push(format!("the newest backup is {age_s} seconds old"));
            }
            Some(_) => {}
        }
        warnings
    }
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
        report.warn();
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
        for entry in branch("Connections", "(objectClass=monitorCounterObject)")? {
            let count = number(&entry, "monitorCounter");
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
        self.databases = databases.iter().map(database).collect();
        let consumers = branch("Databases", "(objectClass=olmSyncReplInstance)")?;
        self.consumers = consumers.iter().map(consumer).collect();
        let backups = branch("Backups", "(objectClass=monitoredObject)")?;
        self.backups = backups.first().map(backup);
        Ok(())
    }

    /// Adds what a person should look at.
    fn warn(&mut self) {
        for database in &self.databases {
            let suffix = &database.suffix;
            let percent = database.percent();
            if percent >= FILE_WARNING {
                self.warnings.push(format!(
                    "{suffix}: {percent} % of the bound of its file are in use: raise maxsize \
                     (storage.map_bytes_max)"
                ));
            }
            if let Some((transactions, seconds)) = database.oldest_reader
                && seconds >= READER_WARNING_S
                && transactions > 0
            {
                self.warnings.push(format!(
                    "{suffix}: a reader has kept an old state for {seconds} seconds, so pages \
                     cannot be used again"
                ));
            }
        }
        if let Some(backups) = &self.backups {
            self.warnings.extend(backups.warnings());
        }
        for consumer in &self.consumers {
            let provider = &consumer.provider;
            if let Some(trouble) = &consumer.trouble {
                self.warnings.push(format!("{provider}: {trouble}"));
            }
            if consumer.phase == "Gave up" {
                self.warnings
                    .push(format!("{provider}: the retry list has ended"));
            }
            if consumer.quarantined > 0 {
                let count = consumer.quarantined;
                self.warnings
                    .push(format!("{provider}: {count} entries cannot be stored"));
            }
        }
    }
}

fn database(entry: &Entry) -> DatabaseState {
    let oldest = fact(entry, "oldest reader").and_then(|text| {
        let mut numbers = text.split_ascii_whitespace();
        let transactions = numbers.next()?.parse().ok()?;
        Some((transactions, numbers.nth(1)?.parse().ok()?))
    });
    DatabaseState {
        suffix: entry.first("namingContexts").unwrap_or_default(),
        folder: entry.first("olmDbDirectory").unwrap_or_default(),
        entries: number(entry, "olmMDBEntries"),
        pages: number(entry, "olmMDBPagesUsed"),
        pages_free: number(entry, "olmMDBPagesFree"),
        pages_max: number(entry, "olmMDBPagesMax"),
        oldest_reader: oldest,
        refused: fact(entry, "refused updates")
            .and_then(|text| text.parse().ok())
            .unwrap_or(0),
    }
}

fn backup(entry: &Entry) -> BackupState {
    let count = |name: &str| fact(entry, name)?.parse().ok();
    let last = fact(entry, "last");
    BackupState {
        directory: fact(entry, "directory").unwrap_or_default(),
        interval_s: count("interval").unwrap_or(0),
        last: last.and_then(|last| Some((last, count("age")?, count("bytes")?))),
        failures: count("failures").unwrap_or(0),
        trouble: fact(entry, "trouble"),
    }
}

fn consumer(entry: &Entry) -> ConsumerState {
    let text = |name: &str| entry.first(name).unwrap_or_default();
    ConsumerState {
        provider: text("olmSRProviderURIList"),
        phase: text("olmSRSyncPhase"),
        last_contact: text("olmSRLastContact"),
        quarantined: fact(entry, "quarantined")
            .and_then(|text| text.parse().ok())
            .unwrap_or(0),
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

fn number(entry: &Entry, attribute: &str) -> u64 {
    let value = entry.first(attribute);
    value.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Returns a fact among those of an entry.
fn fact(entry: &Entry, name: &str) -> Option<String> {
    let values = entry.values("monitoredInfo").iter();
    let mut texts = values.map(|value| String::from_utf8_lossy(value));
    texts.find_map(|text| Some(text.strip_prefix(name)?.strip_prefix(": ")?.to_owned()))
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
    fn warnings_are_about_full_files_old_readers_and_consumers() {
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
        let stuck = entry(&[
            ("olmSRProviderURIList", &["ldap://p"]),
            ("olmSRSyncPhase", &["Gave up"]),
            ("monitoredInfo", &["quarantined: 2", "trouble: gone"]),
        ]);
        let mut report = Report {
            databases: vec![database(&full), database(&entry(&[]))],
            consumers: vec![consumer(&stuck), consumer(&entry(&[]))],
            ..Report::default()
        };
        assert_eq!(report.databases[0].oldest_reader, Some((5, 700)));
        report.warn();
        let warnings = report.warnings.join("\n");
        for part in [
            "85 %",
            "700 seconds",
            "ldap://p: gone",
            "retry list",
            "2 entries",
        ] {
            assert!(warnings.contains(part), "{warnings}");
        }
        assert_eq!(report.warnings.len(), 5, "{warnings}");
    }

    #[test]
    fn backups_are_warned_of_if_they_fail_or_are_old() {
        let state = |facts: &[&str]| backup(&entry(&[("monitoredInfo", facts)]));
        let plan = ["directory: /to", "interval: 3600", "failures: 0"];
        let last = ["last: 20261127020000Z", "bytes: 4096"];
        let with = |more: &[&str]| state(&[&plan[..], &last, more].concat());
        let young = with(&["age: 7200"]);
        assert_eq!(young.last, Some(("20261127020000Z".to_owned(), 7200, 4096)));
        assert!(young.warnings().is_empty());
        assert!(with(&["age: 7201"]).warnings()[0].contains("7201 seconds old"));
        assert!(state(&plan).warnings()[0].contains("no backup yet"));
        let failed = with(&["age: 1", "trouble: disk full"]);
        assert_eq!(failed.warnings(), ["the last backup failed: disk full"]);
    }
}
