//! Every entry of a view, parents before children.
//!
//! Order of ids is nearly always such an order, as parents are created before their children. An
//! entry that was moved below a younger one has to wait, with all its descendants. The export
//! remembers its id until its parent has been returned.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::EntryView;
use super::state::View;
use crate::error::{Damage, StoreError};
use crate::ids::EntryId;
use fulgurite::{Cursor, Snapshot};

/// The entries of one view, parents first.
pub struct Export<'v, 's, T> {
    view: &'v View<'s, T>,
    /// The cursor of the walk by ids; `None` before the start.
    walk: Option<Cursor<'v>>,
    /// Skipped entries, by parent.
    waiting: BTreeMap<EntryId, BTreeSet<EntryId>>,
    /// The same entries by id.
    passed_over: BTreeSet<EntryId>,
    /// Skipped entries whose parents have been returned.
    ready: Vec<EntryId>,
}

impl<'v, 's, T: Snapshot> Export<'v, 's, T> {
    /// Starts at the first entry.
    #[must_use]
    pub fn new(view: &'v View<'s, T>) -> Export<'v, 's, T> {
        Export {
            view,
            walk: None,
            waiting: BTreeMap::new(),
            passed_over: BTreeSet::new(),
            ready: Vec::new(),
        }
    }

    /// Returns the next entry; `None` at the end.
    /// # Errors
    /// [`StoreError`] if the engine fails or a record is damaged.
    #[allow(clippy::should_implement_trait)] // an error comes first
    pub fn next(&mut self) -> Result<Option<EntryView<'v>>, StoreError> {
        loop {
            if let Some(id) = self.ready.pop() {
                self.release(id);
                if let Some(entry) = self.view.entry(id)? {
                    return Ok(Some(entry));
                }
                continue;
            }
            let Some(entry) = self.next_by_id()? else {
                return Ok(None);
            };
            let id = entry.id();
            let parent = entry.parent().unwrap_or(EntryId::ROOT);
            if parent > id || self.passed_over.contains(&parent) {
                self.waiting.entry(parent).or_default().insert(id);
                self.passed_over.insert(id);
                continue;
            }
            self.release(id);
            return Ok(Some(entry));
        }
    }

    fn next_by_id(&mut self) -> Result<Option<EntryView<'v>>, StoreError> {
        let row = match &mut self.walk {
            Some(cursor) => cursor.next()?,
            None => {
                let cursor = self.view.txn.cursor(self.view.store.dbs.entries)?;
                self.walk.insert(cursor).first()?
            }
        };
        let Some((key, record)) = row else {
            return Ok(None);
        };
        let id = EntryId::from_key(key).ok_or(Damage::Record)?;
        Ok(Some(self.view.entry_of(id, record)?))
    }

    /// Notes that an entry has been returned. Its skipped children are next.
    fn release(&mut self, id: EntryId) {
        if self.passed_over.is_empty() {
            return;
        }
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
    fn parents_come_before_children_after_moves() {
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
        let (mut export, mut seen) = (Export::new(&view), BTreeSet::new());
        while let Some(entry) = export.next().unwrap() {
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
