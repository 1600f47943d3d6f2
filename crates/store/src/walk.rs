//! Entries looked up one after the other in ascending order, as searches do.

use crate::entry_view::EntryView;
use crate::error::StoreError;
use crate::ids::EntryId;
use crate::view::View;
use fulgurite::{Cursor, Snapshot};

/// So many ids further on an entry is stepped to; beyond, a descent from the root is cheaper.
const STEPS_MAX: u64 = 4;

/// Looks entries of one view up: one that is near behind the one before by steps, any other by a descent.
#[derive(Default)]
pub struct EntryWalk<'v> {
    /// Stands at `last`; made for the second of two neighbours, so that a single look-up does not pay for it.
    cursor: Option<Cursor<'v>>,
    last: EntryId,
}

impl<'v> EntryWalk<'v> {
    /// A walk that has not begun.
    #[must_use]
    pub fn new() -> EntryWalk<'v> {
        EntryWalk::default()
    }

    /// As [`View::entry`].
    #[inline]
    pub(crate) fn entry<T: Snapshot>(
        &mut self,
        view: &'v View<'_, T>,
        id: EntryId,
    ) -> Result<Option<EntryView<'v>>, StoreError> {
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
