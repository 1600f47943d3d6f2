//! The plan of a run: who takes part, and what is asked for.

use std::path::PathBuf;

use anyhow::ensure;

use super::contender::{CONTENDERS, Contender, OURS, REFERENCE};
use super::data_set::DataSet;
use super::patience::Patience;
use super::table::{OTHER_ROWS, QUESTIONS, Question};
use crate::results::{Half, Results};
use crate::targets;

/// The plan of a run.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) project: PathBuf,
    pub(crate) people: u64,
    pub(crate) data: DataSet,
    /// Of the entries and the pieces of names that are asked for.
    pub(crate) seed: u64,
    /// How often everything is done; those who are neither ours nor the reference take part in the
    /// first round.
    pub(crate) rounds: u64,
    /// Divides the number of requests; above 1 the figures only test the bench itself.
    pub(crate) scale: u64,
    /// Rows of the long run, too.
    pub(crate) full: bool,
    /// The longest time of a question, in seconds.
    pub(crate) limit: u64,
    /// Names of rows; none for all.
    pub(crate) only: Vec<String>,
    /// Names of servers; none for all.
    pub(crate) with: Vec<String>,
    /// Servers that play these rows only.
    pub(crate) partial: &'static [(&'static str, &'static [&'static str])],
    pub(crate) memory: PathBuf,
    pub(crate) disk: PathBuf,
}

impl Plan {
    /// The limits of each step.
    pub(super) fn patience(&self) -> Patience {
        Patience::new(self.limit, self.people)
    }

    /// Returns true if a server plays a row.
    pub(super) fn plays(&self, server: &str, row: &str) -> bool {
        let mut partial = self.partial.iter().filter(|(name, _)| *name == server);
        partial.all(|(_, rows)| rows.contains(&row))
    }

    /// The requests of a question: at least one of each connection.
    pub(super) fn requests(&self, question: &Question) -> u64 {
        let least = question.requests.min(question.connections);
        (question.requests / self.scale).max(least)
    }

    /// Requires that rows and servers that are named exist.
    pub(super) fn require_names(&self) -> anyhow::Result<()> {
        for name in &self.only {
            ensure!(
                self.knows(name),
                "there is no row {name}; `compare list` names all"
            );
        }
        for name in &self.with {
            ensure!(
                Contender::named(name).is_some(),
                "there is no server {name}; `compare list` names all"
            );
        }
        Ok(())
    }

    /// Results without any figure.
    pub(super) fn results(&self) -> Results {
        let old = if self.has_old() {
            ", with back-hdb and back-bdb"
        } else {
            ""
        };
        Results {
            title: format!(
                "Directories of {} people{}{old}",
                self.people,
                self.data.title()
            ),
            stem: self.stem(),
            half: if self.has_old() {
                Half::Founding
            } else {
                self.data.half()
            },
            scale: self.scale,
            people: self.people,
            reference: REFERENCE.to_owned(),
            ours: vec![OURS.to_owned()],
            asked: targets::of_directory(),
            size_at_most: targets::DIRECTORY_SIZE_AT_MOST,
            circumstances: vec![(
                "seed of what is asked for".to_owned(),
                format!("{}, one more in each round (`--seed {0}`)", self.seed),
            )],
            ..Results::default()
        }
    }

    /// Returns true if a server of OpenLDAP 2.4 takes part.
    fn has_old(&self) -> bool {
        let old = CONTENDERS.iter().filter(|one| one.is_old());
        old.into_iter().any(|one| one.takes_part(&self.with))
    }

    /// Of files: what kind of people, and how many.
    fn stem(&self) -> String {
        let old = if self.has_old() { "founding-" } else { "" };
        let kind = format!("{old}{}", self.data.stem());
        match self.people {
            count if count % 1_000_000 == 0 => format!("{kind}-{}m", count / 1_000_000),
            count if count % 1000 == 0 => format!("{kind}-{}k", count / 1000),
            count => format!("{kind}-{count}"),
        }
    }

    fn knows(&self, name: &str) -> bool {
        OTHER_ROWS.contains(&name) || QUESTIONS.iter().any(|question| question.name == name)
    }
}
