//! The part of a directory that every operation needs.

use std::sync::{Arc, Mutex, PoisonError};

use fulgurite_schema::{AttributeIndex, Schema};

use crate::core::clock::{Clock, Entropy, Timestamp};
use crate::core::csn::{Csn, CsnGenerator};
use crate::core::database::Database;
use crate::core::databases::Databases;
use crate::core::notices::Notices;
use crate::core::well_known_types::WellKnownTypes;

/// Schema, databases, time and randomness: the parts that facts, rights and updates work with.
pub(crate) struct Core {
    pub(crate) schema: Arc<Schema>,
    pub(crate) types: WellKnownTypes,
    pub(crate) databases: Databases,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) notices: Notices,
    /// The types whose values are stored in the order of their normal forms.
    pub(crate) sorted_values: Vec<AttributeIndex>,
    /// The attributes that list groups in some database.
    pub(crate) membership_types: Vec<AttributeIndex>,
    /// Shared with the directory of the next configuration.
    pub(crate) csn: SharedCsn,
}

/// The generator of change sequence numbers; clones are the same one.
#[derive(Clone)]
pub(crate) struct SharedCsn(Arc<Mutex<CsnGenerator>>);

impl SharedCsn {
    /// Starts after the newest number in the databases.
    pub(crate) fn new(server_id: u16, databases: &Databases, types: &WellKnownTypes) -> SharedCsn {
        let mut generator = CsnGenerator::new(server_id);
        for database in databases.iter() {
            if let Some(newest) = newest_csn(database, types) {
                generator.advance_past(newest);
            }
        }
        SharedCsn(Arc::new(Mutex::new(generator)))
    }

    /// Returns the number of the server.
    pub(crate) fn server(&self) -> u16 {
        let generator = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        generator.server()
    }

    /// Returns the next number.
    pub(crate) fn next(&self, now: Timestamp) -> Csn {
        let mut generator = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        generator.next(now)
    }
}

/// Returns the greatest CSN in a database. A database without an index that holds it is served all
/// the same.
fn newest_csn(database: &Database, types: &WellKnownTypes) -> Option<Csn> {
    let view = database.store.snapshot().ok()?;
    let newest = view.greatest_value(types.entry_csn.attribute).ok()??;
    Csn::parse(std::str::from_utf8(&newest).ok()?)
}
