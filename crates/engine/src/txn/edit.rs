//! A record looked at and changed with one search.

use super::snapshot::Sealed;
use super::write::WriteTxn;
use crate::boxed_error::BoxedError;
use crate::opened::Database;
use crate::tree::Path;
use crate::{Error, KeyOrder};

/// The change to make to a record that [`WriteTxn::edit`] has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit<'v> {
    /// It stays as it is, or away.
    Keep,
    /// Its key has this value.
    Store(&'v [u8]),
    /// There is none.
    Remove,
}

impl WriteTxn<'_> {
    /// Shows the value of a key, or its absence, and makes the change that `work` returns. The
    /// record is changed where it was found. The cost is that of [`WriteTxn::put`] alone, or of
    /// [`WriteTxn::delete`].
    /// # Errors
    /// As [`WriteTxn::put`] and [`WriteTxn::delete`]; [`Error::HasDuplicates`]. An error of `edit`
    /// changes nothing.
    pub fn edit<'v, E: From<Error>>(
        &mut self,
        database: Database,
        key: &[u8],
        edit: impl FnOnce(Option<&[u8]>) -> Result<Edit<'v>, E>,
    ) -> Result<(), E> {
        let mut refused = None;
        let done = self.edit_found(database, key, |before| match edit(before) {
            Ok(edit) => edit,
            Err(error) => {
                refused = Some(error);
                Edit::Keep
            }
        });
        match refused {
            Some(error) => Err(error),
            None => Ok(done.map_err(Error::from)?),
        }
    }

    fn edit_found<'v>(
        &mut self,
        database: Database,
        key: &[u8],
        edit: impl FnOnce(Option<&[u8]>) -> Edit<'v>,
    ) -> Result<(), BoxedError> {
        self.check_alive()?;
        if database == Database::FREE_LIST {
            return Err(Error::ReadOnly.into());
        }
        let mut tree = self.tree(database)?;
        if tree.has_duplicates() {
            return Err(Error::HasDuplicates.into());
        }
        let mut path = Path::new();
        let exact = !key.is_empty() && self.seek_from_hint(database, &tree, &mut path, key)?;
        if exact {
            self.check_plain_record(database, &path)?;
        }
        let before = exact.then(|| self.existing(database, &path)).transpose()?;
        debug_assert!(exact == before.is_some());
        match edit(before) {
            Edit::Keep => {}
            // Keys of that order have lengths to agree on.
            Edit::Store(value) if tree.order == KeyOrder::Integer => {
                self.put(database, key, value)?;
            }
            Edit::Store(value) => {
                let mut tree = self.checked_tree(database, key, value.len())?;
                self.save_other_positions(database)?;
                self.store(database, &mut tree, &mut path, exact, key, value)?;
            }
            Edit::Remove if !exact => {}
            Edit::Remove if self.has_cursors() => {
                self.delete(database, key)?;
            }
            Edit::Remove => {
                self.remove_key(database, &mut tree, &mut path)?;
            }
        }
        Ok(())
    }
}
