//! Entries of one state in ascending order of ids: single ones, as searches need them, or all of
//! them.

use super::entry::EntryView;
use super::state::View;
use crate::error::{Damage, StoreError};
use crate::ids::EntryId;
use fulgurite::{Cursor, Snapshot};

/// Distance in ids up to which a cursor steps. Beyond, a descent from the root is faster.
const STEPS_MAX: u64 = 4;

/// Entries looked up together at most: as many as the engine searches in step.
const TOGETHER_MAX: usize = 16;

/// Entries for which one search after the other is as fast.
const TOGETHER_MIN: usize = 3;

/// Looks up entries of one view. A near successor of the last entry is reached by steps, any other
/// entry by a descent.
///
/// Known successors are looked up together, so that waits for memory overlap.
#[derive(Default)]
pub struct EntryWalk<'v> {
    /// Records looked up in advance; the next one is last.
    ahead: Vec<(EntryId, Option<&'v [u8]>)>,
    /// Positioned at `last`. It is made for the second of two near entries, so that a single
    /// look-up does not pay for it.
    cursor: Option<Cursor<'v>>,
    last: EntryId,
}

impl<'v> EntryWalk<'v> {
    /// Makes a walk at its start.
    #[must_use]
    pub fn new() -> EntryWalk<'v> {
        EntryWalk::default()
    }

    /// Returns true if no entry is looked up in advance.
    #[inline]
    pub(crate) fn is_behind(&self) -> bool {
        self.ahead.is_empty()
    }

    /// Looks up the first of some entries that will be asked for in this order, unless such
    /// entries are left.
    pub(crate) fn look_ahead<T: Snapshot>(
        &mut self,
        view: &'v View<'_, T>,
        ids: &[EntryId],
    ) -> Result<(), StoreError> {
        if !self.ahead.is_empty() || ids.len() < TOGETHER_MIN {
            return Ok(());
        }
        let ids = ids.get(..TOGETHER_MAX).unwrap_or(ids);
        let mut keys = [[0; size_of::<u64>()]; TOGETHER_MAX];
        keys.iter_mut()
            .zip(ids)
            .for_each(|(key, id)| *key = id.key());
        let keys = keys.get(..ids.len()).unwrap_or_default();
        let mut records = Vec::new();
        view.txn
            .get_many(view.store.dbs.entries, keys, &mut records)?;
        let ahead = ids.iter().copied().zip(records);
        self.ahead.extend(ahead.rev());
        debug_assert!(
            self.ahead.len() >= TOGETHER_MIN,
            "each entry has its answer"
        );
        Ok(())
    }

    /// As [`View::entry`].
    #[inline]
    pub(crate) fn entry<T: Snapshot>(
        &mut self,
        view: &'v View<'_, T>,
        id: EntryId,
    ) -> Result<Option<EntryView<'v>>, StoreError> {
        if let Some((_, record)) = self.ahead.pop_if(|(next, _)| *next == id) {
            return match record {
                Some(record) => Ok(Some(view.entry_of(id, record)?)),
                None => Ok(None),
            };
        }
        self.ahead.clear();
        let steps = id.0.wrapping_sub(self.last.0);
        let is_near = self.last != EntryId(0) && (1..=STEPS_MAX).contains(&steps);
        self.last = id;
        if is_near && let Some(record) = self.step(view, id, steps)? {
            return Ok(Some(view.entry_of(id, record)?));
        }
        self.cursor = None;
        view.entry(id)
    }

    fn step<T: Snapshot>(
        &mut self,
        view: &'v View<'_, T>,
        id: EntryId,
        steps: u64,
    ) -> Result<Option<&'v [u8]>, StoreError> {
        let key = id.key();
        let Some(cursor) = &mut self.cursor else {
            let cursor = view.txn.cursor(view.store.dbs.entries)?;
            let found = self.cursor.insert(cursor).seek(&key)?;
            return Ok(found.map(|(_, record)| record));
        };
        for _ in 0..steps {
            match cursor.next()? {
                Some((at, record)) if at == key => return Ok(Some(record)),
                Some((at, _)) if at < key.as_slice() => {}
                _ => break,
            }
        }
        Ok(None)
    }
}

impl std::fmt::Debug for EntryWalk<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EntryWalk")
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}

/// All entries of one view in ascending order of ids, placeholders included. Each costs one step of
/// a cursor.
pub struct AllEntries<'v, 's, T> {
    view: &'v View<'s, T>,
    cursor: Cursor<'v>,
}

impl<'v, 's, T: Snapshot> AllEntries<'v, 's, T> {
    /// Starts before the first entry of a view.
    /// # Errors
    /// [`StoreError`] if the engine fails.
    pub fn of(view: &'v View<'s, T>) -> Result<AllEntries<'v, 's, T>, StoreError> {
        let cursor = view.txn.cursor(view.store.dbs.entries)?;
        Ok(AllEntries { view, cursor })
    }

    /// Returns the next entry; `None` behind the last.
    /// # Errors
    /// [`StoreError`] if the engine fails, or a key or a record is damaged.
    #[expect(
        clippy::should_implement_trait,
        reason = "it can fail, and what failed once is not gone on with; it is no iterator"
    )]
    pub fn next(&mut self) -> Result<Option<EntryView<'v>>, StoreError> {
        let Some((key, record)) = self.cursor.next()? else {
            return Ok(None);
        };
        let id = EntryId::from_key(key).ok_or(Damage::Record)?;
        Ok(Some(self.view.entry_of(id, record)?))
    }
}

impl<T> std::fmt::Debug for AllEntries<'_, '_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AllEntries").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{add, create, person, suffix_entry};

    #[test]
    fn entries_looked_up_together_are_those_of_single_look_ups() {
        let store = create();
        let schema = store.schema();
        let mut writer = store.write().unwrap();
        add(&mut writer, &suffix_entry(schema));
        let ids: Vec<EntryId> = (0..60)
            .map(|n| {
                let dn = format!("uid=p{n},dc=example,dc=com");
                add(&mut writer, &person(schema, &dn, &[]))
            })
            .collect();
        writer.delete(ids[7]).unwrap();
        writer.commit().unwrap();
        let view = store.snapshot().unwrap();
        let rdn = |entry: Option<EntryView<'_>>| entry.map(|entry| entry.rdn().to_vec());
        for step in [1, 3, 7, 25] {
            let wanted: Vec<EntryId> = ids.iter().copied().step_by(step).collect();
            let mut walk = EntryWalk::new();
            for (at, id) in wanted.iter().enumerate() {
                walk.look_ahead(&view, &wanted[at..]).unwrap();
                let found = walk.entry(&view, *id).unwrap();
                assert_eq!(rdn(found), rdn(view.entry(*id).unwrap()), "{id}");
                // Another entry than the expected one.
                if at % 11 == 5 {
                    let other = ids[at];
                    let found = walk.entry(&view, other).unwrap();
                    assert_eq!(rdn(found), rdn(view.entry(other).unwrap()), "{other}");
                }
            }
        }
    }
}
