//! The writer of a cluster's node: the entries that it touches, and changes that are exact.
//!
//! A watched writer keeps each entry as it was before it was touched. So its caller can compare,
//! and nothing changes without its knowledge. A following writer does what another one has done.
//! Its updates leave bind states alone, because those changes come separately.

use fulgurite::Snapshot;
use fulgurite_schema::{Attribute, AttributeDescription};

use super::touched::{ChangedValues, EntryContent, TouchedEntry};
use super::value_change::ValueChange;
use super::writer::Writer;
use crate::error::{Damage, StoreError};
use crate::ids::{AttributeId, EntryId};
use crate::record::Values;
use crate::view::View;

impl<T: Snapshot> View<'_, T> {
    /// Returns all that the store has of an entry; `None` if there is none.
    ///
    /// # Errors
    /// [`StoreError`] if the engine fails or a record is damaged.
    pub fn content_of(&self, id: EntryId) -> Result<Option<EntryContent>, StoreError> {
        self.content_without(id, &[])
    }

    /// Does the same, but leaves out the values of some attributes.
    ///
    /// # Errors
    /// As [`content_of`](Self::content_of).
    pub fn content_without(
        &self,
        id: EntryId,
        left_out: &[AttributeDescription],
    ) -> Result<Option<EntryContent>, StoreError> {
        let Some(entry) = self.entry(id)? else {
            return Ok(None);
        };
        let row = self.bind_state(id)?;
        let owned = |attributes: &mut dyn Iterator<Item = (AttributeId, Values<'_>)>| {
            let attributes = attributes.map(|(id, values)| {
                let info = self.attributes().get(id).ok_or(Damage::Attribute)?;
                let values = match left_out.contains(&info.description) {
                    true => Vec::new(),
                    false => values.iter().map(<[u8]>::to_vec).collect(),
                };
                Ok(Attribute {
                    description: info.description.clone(),
                    values,
                })
            });
            attributes.collect::<Result<Vec<Attribute>, StoreError>>()
        };
        Ok(Some(EntryContent {
            parent: entry.parent().unwrap_or(EntryId::ROOT),
            rdn: entry.rdn().to_vec(),
            attributes: owned(&mut entry.record().attributes())?,
            bind_state: match &row {
                Some(row) => owned(&mut row.attributes())?,
                None => Vec::new(),
            },
        }))
    }
}

impl Writer<'_> {
    /// Begins to keep the entries that this writer touches.
    pub fn watch(&mut self) {
        self.touched.get_or_insert_default();
    }

    /// Takes the entries that the writer has touched since the last call, each once. Some of them
    /// may be as before.
    pub fn take_touched(&mut self) -> Vec<TouchedEntry> {
        self.touched
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// Lets updates leave bind states as they are.
    pub fn follow(&mut self) {
        self.is_following = true;
    }

    /// Replaces the bind state of an entry.
    ///
    /// # Errors
    /// As [`change_bind_state`](Self::change_bind_state).
    pub fn replace_bind_state(
        &mut self,
        id: EntryId,
        attributes: &[Attribute],
    ) -> Result<(), StoreError> {
        self.check_not_poisoned()?;
        self.note_touched(id)?;
        if self.view.record(id)?.is_none() {
            return Err(StoreError::NoSuchEntry(id));
        }
        let mut row = Vec::with_capacity(attributes.len());
        for attribute in attributes {
            let number = self.number_description(&attribute.description)?;
            row.push((number, attribute.values.clone()));
        }
        self.put_bind_row(id, &row)
    }

    /// Keeps an entry that is about to change, if the writer is watched.
    pub(super) fn note_touched(&mut self, id: EntryId) -> Result<(), StoreError> {
        let Some(touched) = &mut self.touched else {
            return Ok(());
        };
        if let Some(held) = touched.iter_mut().find(|held| held.id == id) {
            held.is_partial |= !held.left_out.is_empty();
            return Ok(());
        }
        let before = self.view.content_of(id)?;
        self.push_touched(TouchedEntry::new(id, before));
        Ok(())
    }

    /// Does the same for an entry of which single values of some attributes change.
    pub(super) fn note_touched_values(
        &mut self,
        id: EntryId,
        changes: &[ValueChange],
    ) -> Result<(), StoreError> {
        let is_known = |touched: &Vec<TouchedEntry>| touched.iter().any(|held| held.id == id);
        if self.touched.as_ref().is_none_or(is_known) {
            return Ok(());
        }
        let left_out = changes.iter().map(|change| change.description.clone());
        let left_out: Vec<AttributeDescription> = left_out.collect();
        let before = self.view.content_without(id, &left_out)?;
        self.push_touched(TouchedEntry {
            left_out,
            ..TouchedEntry::new(id, before)
        });
        Ok(())
    }

    /// Notes values that have changed, with their number before.
    pub(super) fn note_values(&mut self, id: EntryId, change: ValueChange, before: usize) {
        let touched = self.touched.iter_mut().flatten();
        let mut touched = touched.filter(|held| held.id == id);
        if let Some(held) = touched.next()
            && held.left_out.contains(&change.description)
        {
            let is_whole = change.removed.len() == before;
            held.values.push(ChangedValues { change, is_whole });
        }
    }

    /// Notes an entry that has been added, if the writer is watched.
    pub(super) fn note_added(&mut self, id: EntryId) {
        self.push_touched(TouchedEntry::new(id, None));
    }

    fn push_touched(&mut self, touched: TouchedEntry) {
        if let Some(all) = &mut self.touched {
            all.push(touched);
        }
    }
}
