//! The report of a migration: what works, what differs, what is left out, what is missing.

use std::fmt;
use std::path::Path;

use fulgurite_config::{Database, DatabaseKind, OF_ALL, Settings};

/// Differences from slapd's overlays that an administrator should know. docs/overlays.md has them
/// all.
const DIFFERENCES: [(&str, &str); 9] = [
    (
        "accesslog",
        "the log shows changes from the start of this server on, and its entries lack reqControls",
    ),
    (
        "constraint",
        "who may not write an entry is refused before the rules are asked",
    ),
    (
        "dynlist",
        "filters find the values that entries show, and (memberOf=*) finds all members",
    ),
    ("lastbind", "binds by SASL count too"),
    (
        "memberof",
        "the server computes the groups of an entry, so they are always right and never stored",
    ),
    (
        "ppolicy",
        "binds by SASL are judged too, and a lock also refuses EXTERNAL",
    ),
    (
        "refint",
        "references change in the transaction of the rename or deletion",
    ),
    (
        "unique",
        "who may not write an entry is refused before the rules are asked",
    ),
    (
        "valsort",
        "if a value lacks its weight, the entry shows all values of the attribute as stored",
    ),
];

/// The fate of a part of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Works,
    Differs,
    /// The server does without it, with a warning.
    LeftOut,
    Missing,
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Outcome::Works => "works",
            Outcome::Differs => "differs",
            Outcome::LeftOut => "left out",
            Outcome::Missing => "missing",
        })
    }
}

/// The lines of a report.
#[derive(Debug, Default)]
pub(super) struct Report(Vec<(Outcome, String)>);

impl Report {
    /// Returns what becomes of the settings that the server can read.
    pub(super) fn of(settings: &Settings) -> Report {
        let mut report = Report::default();
        for database in &settings.databases {
            if settings.is_access_log(database) {
                let name = database.suffix_if_set().unwrap_or_default();
                let text = "shows the log of changes, and slapd's own entries are not copied";
                report.add(Outcome::LeftOut, format!("database {name}: {text}"));
                continue;
            }
            report.add_database(database);
        }
        for note in settings.notes.iter().filter(|note| note.warning) {
            report.add(Outcome::LeftOut, format!("{}: {}", note.origin, note.text));
        }
        report
    }

    /// Adds a part that the server does not have.
    pub(super) fn add_missing(&mut self, reason: &dyn fmt::Display) {
        let text = reason.to_string();
        let text = text.strip_suffix(OF_ALL).unwrap_or(&text);
        self.add(Outcome::Missing, text.to_owned());
    }

    /// Returns the number of missing parts.
    pub(super) fn missing(&self) -> usize {
        let outcomes = self.0.iter().map(|(outcome, _)| *outcome);
        outcomes
            .filter(|outcome| *outcome == Outcome::Missing)
            .count()
    }

    fn add(&mut self, outcome: Outcome, text: String) {
        self.0.push((outcome, text));
    }

    fn add_database(&mut self, database: &Database) {
        let name = database.suffix_if_set().unwrap_or("without a suffix");
        if database.kind != DatabaseKind::Mdb {
            let kind = database.kind.as_str();
            self.add(Outcome::Works, format!("database {kind}"));
            return;
        }
        let directory = database.directory().unwrap_or(Path::new("?")).display();
        let (indexes, rules) = (database.indexes().len(), database.policy.access.len());
        self.add(
            Outcome::Works,
            format!("database {name} in {directory}: indexes: {indexes}, access rules: {rules}"),
        );
        for overlay in database.served_overlays() {
            let of = format!("overlay {} of {name}", overlay.name);
            let mut differences = DIFFERENCES.iter();
            match differences.find(|(known, _)| *known == overlay.name) {
                Some((_, text)) => self.add(Outcome::Differs, format!("{of}: {text}")),
                None => self.add(Outcome::Works, of),
            }
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (outcome, text) in &self.0 {
            writeln!(formatter, "{outcome:<8}  {text}")?;
        }
        Ok(())
    }
}
