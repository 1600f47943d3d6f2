//! Subordinate counts against the tree of entries.

use std::collections::{BTreeMap, BTreeSet};

use super::report::Report;
use crate::error::StoreError;
use crate::ids::EntryId;
use crate::names::Counts;
use crate::view::View;
use fulgurite::Snapshot;

pub(super) fn check_counts(
    view: &View<'_>,
    parents: &BTreeMap<EntryId, EntryId>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let mut expected: BTreeMap<EntryId, Counts> = BTreeMap::new();
    for parent in parents.values().filter(|parent| **parent != EntryId::ROOT) {
        expected.entry(*parent).or_default().children += 1;
        let (mut above, mut levels) = (Some(parent), 0);
        while let Some(id) = above.filter(|id| **id != EntryId::ROOT && levels < parents.len()) {
            expected.entry(*id).or_default().descendants += 1;
            above = parents.get(id);
            levels += 1;
        }
    }
    let mut stored = BTreeMap::new();
    let mut cursor = view.txn.cursor(view.store.dbs.counts)?;
    let mut row = cursor.first()?;
    while let Some((key, value)) = row {
        if let (Some(id), Ok(counts)) = (EntryId::from_key(key), Counts::parse(value)) {
            stored.insert(id, counts);
        } else {
            report.problem(|| "a subordinate count is malformed".to_owned());
        }
        row = cursor.next()?;
    }
    let ids: BTreeSet<&EntryId> = stored.keys().chain(expected.keys()).collect();
    for id in ids
        .into_iter()
        .filter(|id| stored.get(id) != expected.get(id))
    {
        report.problem(|| {
            format!(
                "entry {id}: counts {:?}, in truth {:?}",
                stored.get(id),
                expected.get(id)
            )
        });
    }
    Ok(())
}
