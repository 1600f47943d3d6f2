//! Writing bind states: what a bind changes, and what an update leaves of it.

use super::writer::{NumberedAttributes, Writer};
use crate::error::StoreError;
use crate::ids::{AttributeId, EntryId};
use crate::record::{self, Record, RecordSource};
use fulgurite_schema::AttributeDescription;

/// Attributes with their values.
type OwnedAttributes = Vec<(AttributeId, Vec<Vec<u8>>)>;

/// The bind state of an entry next to an update of the entry.
#[derive(Default)]
pub(super) struct KeptBindState {
    /// The attributes that the update does not change, with the values of the record.
    recorded: OwnedAttributes,
    /// The rest of the row, if the update changes the row.
    rest: Option<OwnedAttributes>,
}

impl Writer<'_> {
    /// Gives attributes of an entry other values, as the bind state. The entry itself does not
    /// change. The attributes are some of [`BIND_STATE_ATTRIBUTES`](crate::BIND_STATE_ATTRIBUTES).
    ///
    /// # Errors
    /// [`StoreError::NoSuchEntry`], [`StoreError::EntryTooBig`]; the store is unchanged then.
    pub fn change_bind_state(
        &mut self,
        id: EntryId,
        changes: &[(AttributeDescription, Vec<Vec<u8>>)],
    ) -> Result<(), StoreError> {
        self.check_not_poisoned()?;
        self.note_touched(id)?;
        let mut numbered = Vec::with_capacity(changes.len());
        for (description, values) in changes {
            numbered.push((self.number_description(description)?, values));
        }
        let of_binds = |(number, _): &(AttributeId, _)| self.view.attributes.is_of_binds(*number);
        debug_assert!(numbered.iter().all(of_binds), "binds change no others");
        let record = self.view.record(id)?.ok_or(StoreError::NoSuchEntry(id))?;
        let row = self.view.bind_state(id)?;
        let mut row = row.map_or_else(Vec::new, |row| owned(&row));
        for (number, values) in numbered {
            row.retain(|(held, _)| *held != number);
            // Without values, the row hides those of the record.
            if !values.is_empty() || record.values(number).is_some() {
                row.push((number, values.clone()));
            }
        }
        self.put_bind_row(id, &row)
    }

    /// Writes a bind state.
    pub(super) fn put_bind_row(
        &mut self,
        id: EntryId,
        row: &[(AttributeId, Vec<Vec<u8>>)],
    ) -> Result<(), StoreError> {
        let encoded = encoded(row)?;
        self.view
            .store
            .check_size(encoded.as_deref().unwrap_or_default())?;
        self.apply(|writer| writer.put_bind_state(id, encoded.as_deref()))
    }

    /// Compares the attributes of a new state of an entry with its bind state.
    pub(super) fn kept_bind_state(
        &self,
        id: EntryId,
        attributes: &NumberedAttributes<'_>,
    ) -> Result<KeptBindState, StoreError> {
        if self.is_following {
            return Ok(KeptBindState::default());
        }
        let row = match self.view.bind_state(id) {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(KeptBindState::default()),
            // The update removes a damaged row, so that it can mend the entry.
            Err(StoreError::Damaged(_)) => {
                return Ok(KeptBindState {
                    recorded: Vec::new(),
                    rest: Some(Vec::new()),
                });
            }
            Err(error) => return Err(error),
        };
        let record = self.view.record(id)?.ok_or(StoreError::NoSuchEntry(id))?;
        let (mut recorded, mut rest) = (Vec::new(), Vec::new());
        for (number, values) in owned(&row) {
            let new = attributes.iter().find(|(other, _)| *other == number);
            let stays = match new {
                // No values mean the stored ones.
                Some((_, new)) => new.is_empty() || *new == values,
                None => values.is_empty(),
            };
            if stays {
                let stored = record.values(number).into_iter().flatten();
                recorded.push((number, stored.map(<[u8]>::to_vec).collect()));
                rest.push((number, values));
            }
        }
        let is_changed = rest.len() != row.len();
        Ok(KeptBindState {
            recorded,
            rest: is_changed.then_some(rest),
        })
    }

    /// Writes what an update has left of the bind state.
    pub(super) fn put_kept(&mut self, id: EntryId, kept: &KeptBindState) -> Result<(), StoreError> {
        match &kept.rest {
            None => Ok(()),
            Some(rest) => self.put_bind_state(id, encoded(rest)?.as_deref()),
        }
    }

    /// Removes the bind state of an entry that goes, also a damaged one.
    pub(super) fn clear_bind_state(&mut self, id: EntryId) -> Result<(), StoreError> {
        match self.view.bind_state_count()? {
            0 => Ok(()),
            _ => self.put_bind_state(id, None),
        }
    }

    fn put_bind_state(&mut self, id: EntryId, row: Option<&[u8]>) -> Result<(), StoreError> {
        // A store that is open for writing has the database.
        let db = self.view.store.dbs.bind_state;
        let db = db.ok_or(fulgurite::Error::ReadOnly)?;
        let has_changed = match row {
            Some(row) => {
                self.view.txn.put(db, &id.key(), row)?;
                true
            }
            None => self.view.txn.delete(db, &id.key())?,
        };
        self.has_changed_entries |= has_changed;
        Ok(())
    }
}

/// Returns the bytes of a row; `None` for one without attributes.
fn encoded(row: &[(AttributeId, Vec<Vec<u8>>)]) -> Result<Option<Vec<u8>>, StoreError> {
    if row.is_empty() {
        return Ok(None);
    }
    let mut encoded = Vec::new();
    let attributes = row.iter().map(|(id, values)| (*id, values.as_slice()));
    let source = RecordSource {
        parent: EntryId::ROOT,
        rdn_normal: b"",
        rdn: b"",
        attributes: attributes.collect(),
        overflow: &[],
    };
    record::encode(&source, &mut encoded)?;
    Ok(Some(encoded))
}

impl KeptBindState {
    /// Returns true if the entry has no bind state.
    pub(super) fn is_empty(&self) -> bool {
        self.recorded.is_empty() && self.rest.is_none()
    }

    /// Leaves the attributes that stay in the row as they are in the record.
    pub(super) fn keep<'a>(&'a self, attributes: &mut NumberedAttributes<'a>) {
        for (number, values) in &self.recorded {
            let at = attributes.iter().position(|(other, _)| other == number);
            match (at, values.is_empty()) {
                (Some(at), true) => drop(attributes.remove(at)),
                (Some(at), false) => {
                    if let Some((_, held)) = attributes.get_mut(at) {
                        *held = values;
                    }
                }
                (None, true) => {}
                (None, false) => attributes.push((*number, values)),
            }
        }
    }
}

fn owned(row: &Record<'_>) -> OwnedAttributes {
    let attributes = row.attributes();
    let owned = attributes.map(|(id, values)| (id, values.iter().map(<[u8]>::to_vec).collect()));
    owned.collect()
}
