//! All databases of a directory, and the one that a name belongs to.

use fulgurite_policy::Subordinate;
use fulgurite_schema::{Dn, normal_is_under};

use crate::core::database::Database;
use crate::core::error::OpenError;

/// The databases, in the order of their options.
#[derive(Debug)]
pub(crate) struct Databases(Vec<Database>);

impl Databases {
    /// Takes databases whose suffixes fit together.
    ///
    /// # Errors
    /// [`OpenError`] for a suffix of two databases, or a subordinate database without a superior.
    pub(crate) fn new(databases: Vec<Database>) -> Result<Databases, OpenError> {
        check_suffixes(&databases)?;
        Ok(Databases(databases))
    }

    pub(crate) fn as_slice(&self) -> &[Database] {
        &self.0
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Database> {
        self.0.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Database> {
        self.0.iter_mut()
    }

    /// Returns the suffix with exactly these bytes. Most searches begin at a suffix, which needs no
    /// parsing then.
    pub(crate) fn suffix_written(&self, name: &[u8]) -> Option<&Dn> {
        let mut suffixes = self.0.iter().flat_map(Database::suffixes);
        suffixes.find(|suffix| suffix.pretty().as_bytes() == name)
    }

    /// Returns the database with the most specific suffix at or above the name.
    pub(crate) fn database_of(&self, dn: &Dn) -> Option<&Database> {
        let shown = self.0.iter().filter(|database| !database.hidden);
        let depths = shown.filter_map(|database| {
            let suffix = database.suffix_of(dn)?;
            Some((suffix.depth(), database))
        });
        depths
            .max_by_key(|(depth, _)| *depth)
            .map(|(_, database)| database)
    }

    /// Returns the same for a name in normal form.
    pub(crate) fn database_of_normal(&self, normal: &str) -> Option<&Database> {
        let within = |suffix: &Dn| {
            let suffix = suffix.normal();
            suffix.is_empty() || normal == suffix || normal_is_under(normal, suffix)
        };
        let shown = self.0.iter().filter(|database| !database.hidden);
        let depths = shown.filter_map(|database| {
            let above = database.suffixes().iter().filter(|suffix| within(suffix));
            Some((above.map(Dn::depth).max()?, database))
        });
        let deepest = depths.max_by_key(|(depth, _)| *depth);
        deepest.map(|(_, database)| database)
    }
}

/// Fails if two databases share a suffix, or a subordinate database has no superior.
fn check_suffixes(databases: &[Database]) -> Result<(), OpenError> {
    let databases: Vec<&Database> = databases.iter().filter(|d| !d.hidden).collect();
    for (at, database) in databases.iter().enumerate() {
        let before = databases
            .iter()
            .take(at)
            .flat_map(|before| before.suffixes());
        let others = || {
            databases
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
        };
        for suffix in database.suffixes() {
            if before.clone().any(|other| other == suffix) {
                return Err(OpenError::SameSuffix(suffix.pretty().to_owned()));
            }
            let above =
                |other: &Database| other.suffixes().iter().any(|other| suffix.is_under(other));
            if database.subordinate != Subordinate::No && !others().any(|(_, other)| above(other)) {
                return Err(OpenError::NoSuperior(suffix.pretty().to_owned()));
            }
        }
    }
    Ok(())
}
