//! Changes and questions of a multimap: a database with several values to a key.

use alloc::borrow::ToOwned;
use fulgurite_format::DatabaseFlags;

use super::{Put, PutFlags, Sealed as _, Snapshot, WriteTxn};
use crate::Error;
use crate::opened::Multimap;
use crate::order::{KeyOrder, ValueKind};
use crate::range::Values;
use crate::tree;
use crate::value;

impl Multimap {
    /// Adds a value to those of a key; `false` if the key has it already.
    /// # Errors
    /// As [`WriteTxn::put`]; [`Error::DuplicateLength`], [`Error::FixedSize`] for a value the
    /// multimap cannot take.
    pub fn insert(self, txn: &mut WriteTxn<'_>, key: &[u8], value: &[u8]) -> Result<bool, Error> {
        let put = txn.put_with(self.database, key, value, PutFlags::NO_DUP_DATA)?;
        Ok(put == Put::Stored)
    }

    /// Removes a value from those of a key; `false` if the key does not have it. A key without
    /// values is gone.
    /// # Errors
    /// As [`WriteTxn::delete`].
    pub fn remove(self, txn: &mut WriteTxn<'_>, key: &[u8], value: &[u8]) -> Result<bool, Error> {
        txn.delete_pair(self.database, key, value)
    }

    /// Removes a key with all its values; returns how many they were.
    /// # Errors
    /// As [`WriteTxn::delete`].
    pub fn remove_all(self, txn: &mut WriteTxn<'_>, key: &[u8]) -> Result<u64, Error> {
        let count = self.count(txn, key)?;
        txn.delete(self.database, key)?;
        Ok(count)
    }

    /// The values of a key in their order, from both ends; none if there is no such key. As
    /// [`Snapshot::values`].
    /// # Errors
    /// As [`Snapshot::get`].
    pub fn values<'t>(self, txn: &'t impl Snapshot, key: &[u8]) -> Result<Values<'t>, Error> {
        txn.values(self.database, key)
    }

    /// How many values a key has. Costs as much as [`Snapshot::get`], for any number of values.
    /// # Errors
    /// As [`Snapshot::get`].
    pub fn count(self, txn: &impl Snapshot, key: &[u8]) -> Result<u64, Error> {
        let (tree, pages) = (txn.tree(self.database)?, txn.pages());
        match tree::find(pages, &tree, key)? {
            Some((leaf, node)) => value::count_of(pages, &tree, leaf, &node).map_err(Error::from),
            None => Ok(0),
        }
    }

    /// Returns true if a key has this value.
    /// # Errors
    /// As [`Snapshot::get`].
    pub fn contains(self, txn: &impl Snapshot, key: &[u8], value: &[u8]) -> Result<bool, Error> {
        let (tree, pages) = (txn.tree(self.database)?, txn.pages());
        let mut path = tree::Path::new();
        match tree::seek(pages, &tree, key, &mut path)?.then(|| path.leaf()) {
            Some(Some(leaf)) => Ok(value::seek_value(pages, &tree, leaf, value)?.1),
            _ => Ok(false),
        }
    }
}

impl WriteTxn<'_> {
    /// Opens a named multimap, creating it if there is none.
    /// # Errors
    /// [`Error::OrderMismatch`] and [`Error::ValueMismatch`] if it exists with other keys or
    /// values. [`Error::NoDuplicates`] if its keys have one value each. Otherwise as
    /// [`WriteTxn::create_database`].
    pub fn create_multimap(
        &mut self,
        name: &str,
        keys: KeyOrder,
        values: ValueKind,
    ) -> Result<Multimap, Error> {
        let flags = DatabaseFlags(keys.flags().0 | values.flags());
        let database = self.create_named(name.as_bytes(), flags)?;
        if let KeyOrder::Custom(order) = keys {
            self.set_key_order(database, Some(order));
        }
        if let KeyOrder::Custom(order) = values.order() {
            self.set_value_order(database, Some(order));
        }
        let multimap = self.multimap_of(database)?;
        let found = self.tree(database)?;
        debug_assert!(found.has_duplicates(), "a multimap has duplicates");
        if found.order != keys {
            return Err(Error::OrderMismatch {
                name: name.to_owned(),
                found: found.order,
            });
        }
        let found = ValueKind::of(found.has_fixed_values(), found.value_order);
        if found != values {
            return Err(Error::ValueMismatch {
                name: name.to_owned(),
                found,
            });
        }
        Ok(multimap)
    }
}
