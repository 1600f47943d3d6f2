//! The state of a copy: `contextCSN` of the suffix entry, as in slapd.
//!
//! It is written in the transaction of the changes that it covers. This file alone knows the place.

use std::collections::BTreeMap;
use std::fmt;

use fulgurite_schema::{AttributeDescription, CheckedEntry, Schema};
use fulgurite_store::{EntryId, Snapshot, StoreError, View};

use super::applier::Applier;
use super::error::ContentResult;
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

    pub(super) fn iter(&self) -> impl Iterator<Item = &dyn fmt::Display> {
        self.0.values().map(|csn| csn as &dyn fmt::Display)
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

impl Applier<'_, '_> {
    /// Returns the stored state.
    pub(super) fn read_state(&self) -> ContentResult<State> {
        let view: &View<'_, _> = self.writer;
        Ok(State::of(&state_of(self.database, view)?))
    }

    /// Stores the state. A missing suffix entry becomes glue.
    pub(super) fn write_state(&mut self, state: &State) -> ContentResult {
        let Some(context_csn) = self.context_csn.clone() else {
            return Ok(());
        };
        let Some(suffix) = self.database.suffixes().first().cloned() else {
            return Ok(());
        };
        let newest = state.0.values().max().cloned().unwrap_or_default();
        let id = self.entry_or_glue(&suffix, newest.as_bytes())?;
        debug_assert_ne!(id, EntryId::ROOT, "a suffix entry has an id");
        let mut entry = self.copy_of(id)?;
        let values: Vec<Vec<u8>> = state
            .0
            .values()
            .map(|csn| csn.clone().into_bytes())
            .collect();
        let held = entry.attribute(&context_csn);
        if held.is_some_and(|held| held.values == values) {
            return Ok(());
        }
        entry.set(&context_csn, values);
        let checked = CheckedEntry::on_trust(entry, &self.core.schema);
        Ok(self.writer.modify(id, &checked)?)
    }
}
