//! Glue: entries that stand for parents which the content does not have.

use fulgurite_schema::{CheckedEntry, Dn, Entry};
use fulgurite_store::{EntryId, NameLookup};

use super::applier::Applier;
use super::error::{ContentError, ContentResult, refused};
use super::numbers::Deletion;
use crate::core::well_known_types::is_glue;
use crate::write::stamp::uuid_v4;

/// Levels of glue that one entry gets at most.
const LEVELS_MAX: usize = 64;

impl Applier<'_, '_> {
    /// Returns the parent of a name, and makes it and those above it if they are missing.
    pub(super) fn parent_of(&mut self, dn: &Dn, csn: &[u8]) -> ContentResult<EntryId> {
        if self.database.store.is_top(dn) {
            return Ok(EntryId::ROOT);
        }
        let Some(parent) = dn.parent() else {
            return refused("the entry has no parent");
        };
        self.entry_or_glue(&parent, csn)
    }

    /// Returns the entry of a name, which becomes glue if it is missing.
    pub(super) fn entry_or_glue(&mut self, dn: &Dn, csn: &[u8]) -> ContentResult<EntryId> {
        let mut above = match self.writer.find(dn)? {
            NameLookup::Entry(id) => return Ok(id),
            NameLookup::Missing { deepest } => deepest,
        };
        let suffix = self.database.suffix_of(dn);
        let Some(first) = suffix.map(Dn::depth) else {
            return refused(format!("{} is outside the database", dn.pretty()));
        };
        let begin = above.map_or(first, |(_, depth)| depth + 1);
        if dn.depth() > begin + LEVELS_MAX {
            return refused(format!("more than {LEVELS_MAX} parents are missing"));
        }
        let mut parent = above.take().map_or(EntryId::ROOT, |(id, _)| id);
        for depth in begin..=dn.depth() {
            let Some(name) = dn.ancestor(depth) else {
                return refused("a name without an ancestor");
            };
            let glue = self.glue(name, csn);
            parent = self.writer.add(parent, &glue)?;
        }
        Ok(parent)
    }

    /// Makes the entry.
    fn glue(&self, dn: Dn, csn: &[u8]) -> CheckedEntry {
        let (schema, types) = (&self.core.schema, &self.core.types);
        let mut entry = Entry::new(dn);
        let classes = vec![b"top".to_vec(), b"glue".to_vec()];
        entry.set(&types.object_class, classes);
        entry.set(&types.structural_object_class, vec![b"glue".to_vec()]);
        let uuid = uuid_v4(&*self.core.entropy).into_bytes();
        entry.set(&types.entry_uuid, vec![uuid]);
        if !csn.is_empty() {
            entry.set(&types.entry_csn, vec![csn.to_vec()]);
        }
        CheckedEntry::on_trust(entry, schema)
    }

    /// Returns true for glue.
    pub(super) fn is_glue(&self, id: EntryId) -> ContentResult<bool> {
        let entry = self.writer.entry(id)?;
        Ok(entry.is_some_and(|entry| is_glue(&self.core.types, &entry)))
    }

    /// Puts glue in the place of an entry whose children stay.
    pub(super) fn turn_to_glue(&mut self, id: EntryId) -> ContentResult {
        let held = self.copy_of(id)?;
        let csn = held.attribute(&self.core.types.entry_csn);
        let csn = csn.and_then(|csn| csn.values.first());
        let glue = self.glue(held.dn.clone(), &csn.cloned().unwrap_or_default());
        Ok(self.writer.modify(id, &glue)?)
    }

    /// Brings everything below glue that is aside below the entry that it stood for.
    pub(super) fn replace_glue(&mut self, glue: EntryId, id: EntryId) -> ContentResult {
        let moves = self.writer.has_children(glue)?;
        self.move_children(glue, id)?;
        debug_assert!(!self.writer.has_children(glue)?, "each child has moved");
        self.writer.delete(glue)?;
        match moves && self.content.multi_provider {
            true => self.renumber_below(id),
            false => Ok(()),
        }
    }

    fn move_children(&mut self, from: EntryId, to: EntryId) -> ContentResult {
        for child in self.writer.children(from)? {
            let Some(leaf) = self.copy_of(child)?.dn.leaf() else {
                continue;
            };
            let dn = self.copy_of(to)?.dn.child(&leaf);
            match self.writer.find(&dn)?.entry() {
                Some(same) => self.unite(child, same, to)?,
                None => self.move_below(child, to)?,
            }
        }
        Ok(())
    }

    /// Moves an entry below `to`, where another one has its RDN.
    fn unite(&mut self, child: EntryId, same: EntryId, to: EntryId) -> ContentResult {
        let is_entry = [!self.is_glue(child)?, !self.is_glue(same)?];
        if is_entry == [true, true] && self.content.multi_provider {
            self.turn_loser_to_glue(child, same)?;
        }
        match (self.is_glue(child)?, self.is_glue(same)?) {
            (true, true) => {
                self.move_children(child, same)?;
                Ok(self.writer.delete(child)?)
            }
            (true, false) => self.replace_glue(child, same),
            (false, true) => {
                self.set_aside(same)?;
                self.move_below(child, to)?;
                self.replace_glue(same, child)
            }
            (false, false) => {
                self.park(same)?;
                self.move_below(child, to)
            }
        }
    }

    fn move_below(&mut self, child: EntryId, to: EntryId) -> ContentResult {
        let mut moved = self.copy_of(child)?;
        let Some(leaf) = moved.dn.leaf() else {
            return Ok(());
        };
        moved.dn = self.copy_of(to)?.dn.child(&leaf);
        let checked = CheckedEntry::on_trust(moved, &self.core.schema);
        Ok(self.writer.rename(child, to, &checked)?)
    }

    /// Removes one of two entries with the same name. Glue takes its place, even without children:
    /// glue above it must not go yet.
    fn turn_loser_to_glue(&mut self, one: EntryId, other: EntryId) -> ContentResult {
        let mut both = Vec::new();
        for id in [one, other] {
            let held = self.copy_of(id)?;
            both.push(((self.number_of(&held), self.uuid_of(&held)), id));
        }
        both.sort_unstable();
        if let [(_, loser), ((winner, _), _)] = both[..] {
            let ends = self.report_loser(loser, winner)?;
            self.forget_uuid(loser)?;
            self.leave(loser, Deletion::of_loser(ends))?;
            self.turn_to_glue(loser)?;
        }
        Ok(())
    }

    /// Removes glue without children, and then that above it. The suffix stays, because it shows
    /// the state of the copy.
    pub(super) fn remove_empty_glue(&mut self, id: Option<EntryId>) -> ContentResult {
        let mut next = id;
        while let Some(id) = next.filter(|id| *id != EntryId::ROOT) {
            let above = self.writer.parent(id)?;
            if above.is_none() || self.writer.has_children(id)? || !self.is_glue(id)? {
                return Ok(());
            }
            self.writer.delete(id)?;
            next = above;
        }
        Ok(())
    }

    /// Returns a copy of an entry with all its values.
    pub(super) fn copy_of(&self, id: EntryId) -> ContentResult<Entry> {
        let entry = self.writer.entry(id)?;
        let Some(entry) = entry else {
            return Err(ContentError::from(
                fulgurite_store::StoreError::NoSuchEntry(id),
            ));
        };
        Ok(entry.to_entry()?)
    }
}
