//! Every entry of a view, parents before children.
//!
//! Order of ids is nearly always such an order: parents are created before their children. Only what was moved below
//! a younger entry has to wait, with everything below it, and is remembered by id until its parent is through.

use std::collections::{BTreeMap, BTreeSet};

use crate::entry_view::EntryView;
use crate::error::StoreError;
use crate::ids::EntryId;
use crate::view::View;
use fulgurite::Snapshot;

/// Yields the entries of one view. It borrows nothing, so it can be kept beside the view.
#[derive(Debug, Default)]
pub struct Export {
    /// Where the walk by ids goes on.
    next: EntryId,
    /// Entries passed over, by parent.
    waiting: BTreeMap<EntryId, BTreeSet<EntryId>>,
    /// The same entries by id.
    passed_over: BTreeSet<EntryId>,
    /// Passed-over entries whose parents are through.
    ready: Vec<EntryId>,
}

impl Default for EntryId {
    fn default() -> EntryId {
        EntryId::ABOVE
    }
}

impl Export {
    /// Starts at the first entry.
    #[must_use]
    pub fn new() -> Export {
        Export::default()
    }

    /// The next entry; `None` at the end.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails or a record is damaged.
    pub fn next<'v, T: Snapshot>(
        &mut self,
        view: &'v View<'_, T>,
    ) -> Result<Option<EntryView<'v>>, StoreError> {
        loop {
            if let Some(id) = self.ready.pop() {
                self.release(id);
                if let Some(entry) = view.entry(id)? {
                    return Ok(Some(entry));
                }
                continue;
            }
            let Some(id) = view.next_entry_id(self.next)? else {
                return Ok(None);
            };
            self.next = EntryId(id.0 + 1);
            let Some(entry) = view.entry(id)? else {
                continue;
            };
            let parent = entry.parent().unwrap_or(EntryId::ABOVE);
            if parent > id || self.passed_over.contains(&parent) {
                self.waiting.entry(parent).or_default().insert(id);
                self.passed_over.insert(id);
                continue;
            }
            self.release(id);
            return Ok(Some(entry));
        }
    }

    /// An entry is through: its children that were passed over are next.
    fn release(&mut self, id: EntryId) {
        self.passed_over.remove(&id);
        if let Some(children) = self.waiting.remove(&id) {
            self.ready.extend(children.into_iter().rev());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use std::collections::BTreeSet;

    #[test]
    fn parents_come_first_whatever_was_moved() {
        let store = create();
        let schema = schema();
        let mut writer = store.write().unwrap();
        add(&mut writer, &suffix_entry(&schema));
        for unit_dn in [
            "ou=a",
            "ou=b,ou=a",
            "ou=c,ou=b,ou=a",
            "ou=d",
            "ou=e,ou=d",
            "ou=f",
            "ou=g,ou=c,ou=b,ou=a",
        ] {
            add(
                &mut writer,
                &unit(&schema, &format!("{unit_dn},dc=example,dc=com")),
            );
        }
        for (from, to, above) in [
            ("ou=a", "ou=a,ou=e,ou=d", "ou=e,ou=d"),
            ("ou=d", "ou=d,ou=f", "ou=f"),
            ("ou=c,ou=b,ou=a,ou=e,ou=d,ou=f", "ou=c", ""),
        ] {
            let id = find(&writer, &format!("{from},dc=example,dc=com"))
                .entry()
                .unwrap();
            let above = format!("{above},dc=example,dc=com");
            let parent = find(&writer, above.trim_start_matches(','))
                .entry()
                .unwrap();
            writer
                .rename(
                    id,
                    parent,
                    &unit(&schema, &format!("{to},dc=example,dc=com")),
                )
                .unwrap();
        }
        writer.commit().unwrap();
        assert_clean(&store);
        let view = store.snapshot().unwrap();
        let (mut export, mut seen) = (Export::new(), BTreeSet::new());
        while let Some(entry) = export.next(&view).unwrap() {
            assert!(
                entry.parent().is_none_or(|parent| seen.contains(&parent)),
                "{}",
                view.dn(entry.id()).unwrap()
            );
            assert!(seen.insert(entry.id()));
        }
        assert_eq!(seen.len(), 8);
    }
}
