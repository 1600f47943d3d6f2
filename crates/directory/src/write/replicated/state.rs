//! The state of a copy: `contextCSN` of the suffix entry, as in slapd.
//!
//! This file and `reached`, which writes it, alone know the place.

use std::collections::BTreeMap;

use fulgurite_schema::{AttributeDescription, Schema};
use fulgurite_store::{Snapshot, StoreError, View};

use crate::core::database::Database;

/// The greatest change sequence number of each server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State(BTreeMap<String, String>);

impl State {
    /// Takes numbers in: those that are greater, or all.
    pub(super) fn with(mut self, csns: &[String], replaces: bool) -> State {
        for csn in csns {
            let Some(server) = server_of(csn) else {
                continue;
            };
            let held = self.0.get(server);
            if replaces || held.is_none_or(|held| held < csn) {
                self.0.insert(server.to_owned(), csn.clone());
            }
        }
        self
    }

    /// Returns true if the state has a change.
    pub(super) fn covers(&self, csn: &str) -> bool {
        let held = server_of(csn).and_then(|server| self.0.get(server));
        held.is_some_and(|held| held.as_str() >= csn)
    }

    pub(super) fn of<S: AsRef<str>>(csns: &[S]) -> State {
        let csns: Vec<String> = csns.iter().map(|csn| csn.as_ref().to_owned()).collect();
        State::default().with(&csns, false)
    }

    /// Returns the numbers, ascending by server.
    pub(super) fn csns(&self) -> Vec<String> {
        self.0.values().cloned().collect()
    }

    /// Returns the numbers as values of an attribute.
    pub(super) fn values(&self) -> Vec<Vec<u8>> {
        let csns = self.0.values();
        csns.map(|csn| csn.clone().into_bytes()).collect()
    }

    /// Returns the greatest number; empty without any.
    pub(super) fn newest(&self) -> String {
        self.0.values().max().cloned().unwrap_or_default()
    }
}

fn server_of(csn: &str) -> Option<&str> {
    csn.split('#').nth(2)
}

/// Returns `contextCSN`.
pub(super) fn context_csn(schema: &Schema) -> Option<AttributeDescription> {
    schema.describe(b"contextCSN").ok()
}

/// Returns the state of a database.
pub(crate) fn state_of<T: Snapshot>(
    database: &Database,
    view: &View<'_, T>,
) -> Result<Vec<String>, StoreError> {
    let Some(context_csn) = context_csn(view.schema()) else {
        return Ok(Vec::new());
    };
    let suffix = database.suffixes().first();
    let id = match suffix {
        Some(suffix) => view.find(suffix)?.entry(),
        None => None,
    };
    let Some(entry) = id.map(|id| view.entry(id)).transpose()?.flatten() else {
        return Ok(Vec::new());
    };
    let values = entry.values(&context_csn);
    let texts = values.into_iter().flat_map(|values| values.into_iter());
    Ok(texts
        .map(|value| String::from_utf8_lossy(value).into_owned())
        .collect())
}
