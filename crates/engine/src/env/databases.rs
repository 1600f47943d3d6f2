//! Handles of databases: small numbers that stand for names.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::Error;

/// A handle of a database, for any transaction of the environment it was opened in.
///
/// It stands for a name. Using it in a snapshot that has no database of that name is [`Error::NoDatabase`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Database {
    pub(crate) index: usize,
}

impl Database {
    /// The unnamed database, which every environment has.
    pub const MAIN: Database = Database { index: 0 };
}

/// The names behind handles. Reading takes no lock; new names are rare.
#[derive(Debug)]
pub(crate) struct DatabaseNames {
    names: Box<[OnceLock<Arc<str>>]>,
    len: Mutex<usize>,
}

impl DatabaseNames {
    pub(crate) fn new(databases_max: usize) -> DatabaseNames {
        // Handle 0 is the main database, which has no name.
        let names: Box<[OnceLock<Arc<str>>]> =
            (0..=databases_max).map(|_| OnceLock::new()).collect();
        DatabaseNames {
            names,
            len: Mutex::new(1),
        }
    }

    /// The handle for a name, a new one if it has none yet.
    pub(crate) fn intern(&self, name: &str) -> Result<Database, Error> {
        let mut len = self.len.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.names.get(1..*len).unwrap_or_default();
        let found = known
            .iter()
            .position(|slot| slot.get().is_some_and(|known| **known == *name));
        if let Some(position) = found {
            return Ok(Database {
                index: position + 1,
            });
        }
        let slot = self
            .names
            .get(*len)
            .ok_or(Error::DatabasesFull(self.names.len() - 1))?;
        let _ = slot.set(name.into());
        *len += 1;
        Ok(Database { index: *len - 1 })
    }

    /// The name behind a handle; empty for the main database.
    pub(crate) fn name(&self, database: Database) -> &str {
        self.names
            .get(database.index)
            .and_then(OnceLock::get)
            .map_or("", |name| name)
    }
}
