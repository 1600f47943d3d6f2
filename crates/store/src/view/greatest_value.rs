//! The greatest value of an attribute, from its equality index.

use super::state::View;
use crate::error::StoreError;
use crate::index::{IndexKind, equality, key};
use fulgurite::Snapshot;
use fulgurite_schema::AttributeIndex;

impl<T: Snapshot> View<'_, T> {
    /// Returns the greatest value of an attribute in normal form, from its equality index. Cost:
    /// one descent. `None` without values, without a complete equality index, and for a value that
    /// is too long for a key.
    /// # Errors
    /// [`StoreError`] if the engine fails.
    pub fn greatest_value(&self, attribute: AttributeIndex) -> Result<Option<Vec<u8>>, StoreError> {
        let index = self.indexes.of(attribute);
        let Some(index) = index.filter(|index| index.usable && index.has(IndexKind::Equality))
        else {
            return Ok(None);
        };
        let range = equality::all_values(index.id);
        let mut cursor = self.txn.cursor(self.store.dbs.index)?;
        let last = match cursor.seek_range(&range.end)? {
            Some(_) => cursor.prev()?,
            None => cursor.last()?,
        };
        let found = last.filter(|(key, _)| *key >= range.start.as_slice());
        Ok(found.and_then(|(key, _)| key::literal_value(key)))
    }
}
