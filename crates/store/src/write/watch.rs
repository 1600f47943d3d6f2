//! The writer of a cluster's node: the entries that it touches, and changes that are exact.
//!
//! A watched writer keeps each entry as it was before it was touched. So its caller can compare,
//! and nothing changes without its knowledge. A following writer does what another one has done.
//! Its updates leave bind states alone, because those changes come separately.

use fulgurite::Snapshot;
use fulgurite_schema::Attribute;

use super::touched::{EntryContent, TouchedEntry};
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
        let Some(entry) = self.entry(id)? else {
            return Ok(None);
        };
        let row = self.bind_state(id)?;
        let owned = |attributes: &mut dyn Iterator<Item = (AttributeId, Values<'_>)>| {
            let attributes = attributes.map(|(id, values)| {
                let info = self.attributes().get(id).ok_or(Damage::Attribute)?;
                Ok(Attribute {
                    description: info.description.clone(),
                    values: values.iter().map(<[u8]>::to_vec).collect(),
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
        let is_new = |touched: &Vec<TouchedEntry>| !touched.iter().any(|held| held.id == id);
        if self.touched.as_ref().is_none_or(|touched| !is_new(touched)) {
            return Ok(());
        }
        let before = self.view.content_of(id)?;
        let touched = TouchedEntry { id, before };
        self.touched
            .iter_mut()
            .for_each(|all| all.push(touched.clone()));
        Ok(())
    }

    /// Notes an entry that has been added, if the writer is watched.
    pub(super) fn note_added(&mut self, id: EntryId) {
        let added = TouchedEntry { id, before: None };
        self.touched
            .iter_mut()
            .for_each(|all| all.push(added.clone()));
    }
}
