//! Subordinate counts changed by an open write transaction.
//!
//! A thousand entries added below one parent change its ancestors once, not a thousand times.

use rustc_hash::FxHashMap;

use crate::error::{Damage, StoreError};
use crate::ids::EntryId;
use crate::names::{Counts, DEPTH_MAX};
use crate::view::View;
use fulgurite::WriteTxn;

/// Changes by parent. Its ancestors are found when the changes are written.
#[derive(Debug, Default)]
pub(super) struct PendingCounts {
    changes: FxHashMap<EntryId, CountChange>,
}

#[derive(Clone, Copy, Debug, Default)]
struct CountChange {
    children: i64,
    descendants: i64,
}

impl PendingCounts {
    /// Notes that `parent` gained (or lost) children, and their subtrees of `descendants` entries.
    pub(super) fn change(&mut self, parent: EntryId, children: i64, descendants: i64) {
        if parent == EntryId::ROOT {
            return;
        }
        // A child is a descendant too, so both numbers grow or shrink together.
        debug_assert_eq!(children.signum(), descendants.signum());
        debug_assert!(children.unsigned_abs() <= descendants.unsigned_abs());
        let change = self.changes.entry(parent).or_default();
        change.children += children;
        change.descendants += descendants;
    }

    /// Returns true if all changes are written.
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns true if a change of an entry is noted.
    pub(super) fn has_change_of(&self, id: EntryId) -> bool {
        self.changes.contains_key(&id)
    }

    pub(super) fn flush(&mut self, view: &mut View<'_, WriteTxn<'_>>) -> Result<(), StoreError> {
        let changes = std::mem::take(&mut self.changes);
        let mut totals: FxHashMap<EntryId, CountChange> = FxHashMap::default();
        for (id, change) in changes {
            let total = totals.entry(id).or_default();
            total.children += change.children;
            total.descendants += change.descendants;
            if change.descendants != 0 {
                add_to_ancestors(view, &mut totals, id, change.descendants)?;
            }
        }
        let mut totals: Vec<(EntryId, CountChange)> = totals.into_iter().collect();
        totals.sort_unstable_by_key(|(id, _)| *id);
        debug_assert!(
            totals.is_sorted_by(|a, b| a.0 < b.0),
            "each entry comes once"
        );
        totals
            .into_iter()
            .try_for_each(|(id, change)| write(view, id, change))
    }
}

fn add_to_ancestors(
    view: &View<'_, WriteTxn<'_>>,
    totals: &mut FxHashMap<EntryId, CountChange>,
    below: EntryId,
    descendants: i64,
) -> Result<(), StoreError> {
    debug_assert_ne!(descendants, 0, "ancestors change with descendants only");
    let mut id = below;
    for _ in 0..DEPTH_MAX {
        id = view.record(id)?.ok_or(Damage::Parents)?.parent();
        if id == EntryId::ROOT {
            return Ok(());
        }
        totals.entry(id).or_default().descendants += descendants;
    }
    Err(Damage::Parents.into())
}

fn write(
    view: &mut View<'_, WriteTxn<'_>>,
    id: EntryId,
    change: CountChange,
) -> Result<(), StoreError> {
    if change.children == 0 && change.descendants == 0 {
        return Ok(());
    }
    let counts = view
        .stored_counts(id)?
        .changed(change.children, change.descendants)?;
    debug_assert_ne!(id, EntryId::ROOT, "nothing counts the top entries");
    let db = view.store.dbs.counts;
    if counts == Counts::default() {
        view.txn.delete(db, &id.key())?;
    } else {
        view.txn.put(db, &id.key(), &counts.bytes())?;
    }
    Ok(())
}
