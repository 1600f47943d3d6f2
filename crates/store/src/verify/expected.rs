//! The state that follows from the entries.

use std::collections::{BTreeMap, BTreeSet};

use super::report::Report;
use crate::error::StoreError;
use crate::ids::EntryId;
use crate::index::{KeyMaker, key};
use crate::view::View;

/// The state that follows from the entries.
#[derive(Default)]
pub(super) struct ExpectedState {
    pub(super) postings: BTreeMap<Vec<u8>, BTreeSet<EntryId>>,
    pub(super) parents: BTreeMap<EntryId, EntryId>,
}

pub(super) fn walk_entries(
    view: &View<'_>,
    report: &mut Report,
) -> Result<ExpectedState, StoreError> {
    let mut expected = ExpectedState::default();
    let mut next = view.next_entry_id(EntryId(0))?;
    let mut scratch = Vec::new();
    while let Some(id) = next {
        next = view.next_entry_id(EntryId(id.0 + 1))?;
        report.entries += 1;
        let entry = match view.entry(id) {
            Ok(Some(entry)) if entry.record().is_sound() => entry,
            Ok(_) | Err(StoreError::Damaged(_)) => {
                report.problem(|| format!("entry {id}: the record is malformed"));
                continue;
            }
            Err(error) => return Err(error),
        };
        if entry.recorded_attributes().count() != entry.record().attributes().count() {
            report.problem(|| format!("entry {id}: holds an attribute of unknown number"));
        }
        let parent = entry.record().parent();
        expected.parents.insert(id, parent);
        if parent != EntryId::ROOT && !matches!(view.record(parent), Ok(Some(_))) {
            report.problem(|| format!("entry {id}: its parent {parent} does not exist"));
        }
        if view.child(parent, entry.rdn_normal()).ok().flatten() != Some(id) {
            report.problem(|| format!("entry {id}: is not found by its name"));
        }
        let postings = &mut expected.postings;
        postings.entry(key::all_entries()).or_default().insert(id);
        let keys = KeyMaker::new(&view.indexes, &view.store.schema);
        keys.each_key(&entry, &mut scratch, &mut |key| {
            match postings.get_mut(key) {
                Some(ids) => ids.insert(id),
                None => postings
                    .insert(key.to_vec(), BTreeSet::from([id]))
                    .is_none(),
            };
        });
    }
    Ok(expected)
}
