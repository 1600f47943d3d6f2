//! Stores that have no log yet, and vectors that follow from the entries.

use crate::changes::{CsnVector, PackedCsn};
use crate::error::StoreError;
use crate::store::Store;
use crate::write::Writer;
use fulgurite_schema::{AttributeDescription, CheckedEntry};
use std::sync::Arc;

/// The attribute with the state of a whole database.
const CONTEXT_CSN: &str = "contextCSN";

impl Store {
    /// Computes the vector from the entries, if a load or an older release has left it open.
    ///
    /// The cost is a look at each entry. It does nothing otherwise, and nothing in a store that was
    /// opened read-only.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn settle_changes(&self) -> Result<(), StoreError> {
        if !self.snapshot()?.changes()?.is_pending {
            return Ok(());
        }
        let mut writer = match self.write() {
            Err(StoreError::Engine(fulgurite::Error::ReadOnly)) => return Ok(()),
            writer => writer?,
        };
        // Another process may have done it meanwhile.
        if writer.log_state()?.is_pending {
            let mut vector = match writer.take_context()? {
                Some(vector) => {
                    writer.show_vector(true)?;
                    vector
                }
                None => writer.vector_of_entries()?,
            };
            // Deletions leave no number in the entries, and a load may bring an older state.
            vector.raise_all(&writer.log_state()?.vector);
            writer.reset_vector(vector)?;
            writer.commit()?;
        }
        Ok(())
    }
}

impl Store {
    /// Makes the vector part of the exported content. It does nothing in a store that was opened
    /// read-only.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn show_changes(&self) -> Result<(), StoreError> {
        if self.snapshot()?.changes()?.is_shown {
            return Ok(());
        }
        let mut writer = match self.write() {
            Err(StoreError::Engine(fulgurite::Error::ReadOnly)) => return Ok(()),
            writer => writer?,
        };
        writer.show_vector(true)?;
        writer.commit()
    }
}

impl Writer<'_> {
    /// Takes the vector that a load has stored with the top entries, if there is one.
    fn take_context(&mut self) -> Result<Option<CsnVector>, StoreError> {
        let schema = Arc::clone(self.store().schema());
        let Some(attribute) = schema.attribute(CONTEXT_CSN) else {
            return Ok(None);
        };
        let description = AttributeDescription::plain(attribute.index);
        let mut vector = CsnVector::default();
        for suffix in self.store().suffixes() {
            let Some(id) = self.find(suffix)?.entry() else {
                continue;
            };
            let Some(stored) = self.entry(id)? else {
                continue;
            };
            let Some(values) = stored.values(&description) else {
                continue;
            };
            let numbers = values.iter().filter_map(PackedCsn::parse);
            numbers.for_each(|csn| {
                vector.raise(csn);
            });
            let mut entry = stored.to_entry()?;
            entry.set(&description, Vec::new());
            self.modify(id, &CheckedEntry::on_trust(entry, &schema))?;
        }
        Ok((!vector.is_empty()).then_some(vector))
    }
}
