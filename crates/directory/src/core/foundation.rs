//! The part of a directory that every operation needs.

use std::sync::{Arc, Mutex, PoisonError};

use fulgurite_schema::{AttributeIndex, Schema};
use fulgurite_store::PackedCsn;

use crate::core::change_signal::ChangeSignal;
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
    /// Wakes searches that wait for changes. Shared likewise.
    pub(crate) changes: ChangeSignal,
}

/// The generator of change sequence numbers; clones are the same one.
#[derive(Clone)]
pub(crate) struct SharedCsn {
    server: u16,
    generator: Arc<Mutex<CsnGenerator>>,
    /// The greatest numbers before those of the transactions under way.
    under_way: Arc<Mutex<Vec<Csn>>>,
}

/// A transaction whose numbers are not stored yet.
pub(crate) struct UnderWay {
    before: Csn,
    all: Arc<Mutex<Vec<Csn>>>,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = all.iter().position(|before| *before == self.before) {
            all.swap_remove(at);
        }
    }
}

impl SharedCsn {
    /// Starts after the newest number that this server has given, as the databases know it.
    ///
    /// Numbers of other servers do not count: one whose clock is ahead would carry all others off.
    pub(crate) fn new(server_id: u16, databases: &Databases) -> SharedCsn {
        let mut generator = CsnGenerator::new(server_id);
        for database in databases.iter() {
            if let Some(newest) = newest_csn(database, server_id) {
                generator.advance_past(newest);
            }
        }
        SharedCsn {
            server: server_id,
            generator: Arc::new(Mutex::new(generator)),
            under_way: Arc::default(),
        }
    }

    /// Notes that a transaction begins, whose numbers follow. It is stored, or given up, when the
    /// value is dropped.
    pub(crate) fn begin_transaction(&self) -> UnderWay {
        let generator = self.generator.lock();
        let generator = generator.unwrap_or_else(PoisonError::into_inner);
        let mut all = self
            .under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let before = generator.last();
        all.push(before);
        UnderWay {
            before,
            all: Arc::clone(&self.under_way),
        }
    }

    /// Returns a number up to which all numbers of this server are stored.
    pub(crate) fn settled(&self) -> Option<PackedCsn> {
        let generator = self.generator.lock();
        let generator = generator.unwrap_or_else(PoisonError::into_inner);
        let all = self.under_way.lock();
        let all = all.unwrap_or_else(PoisonError::into_inner);
        let settled = all.iter().min().copied().unwrap_or(generator.last());
        PackedCsn::parse(settled.text().as_bytes())
    }

    /// Returns the next number, greater than `floor`.
    pub(crate) fn next(&self, now: Timestamp, floor: Option<Csn>) -> Csn {
        let mut generator = self
            .generator
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(floor) = floor {
            generator.advance_past(floor);
        }
        generator.next(now)
    }

    /// Continues after a number that this server has given before, as another one knows it.
    pub(crate) fn continue_after(&self, own: PackedCsn) {
        debug_assert_eq!(own.server(), self.server, "clocks of others do not count");
        let generator = self.generator.lock();
        if let Some(own) = Csn::parse(&own.text()) {
            let mut generator = generator.unwrap_or_else(PoisonError::into_inner);
            generator.advance_past(own);
        }
    }

    /// Continues after a number of the cluster, whose nodes give all numbers as one server.
    pub(crate) fn exceed(&self, number: PackedCsn) {
        if let Some(number) = Csn::parse(&number.text()) {
            let generator = self.generator.lock();
            let mut generator = generator.unwrap_or_else(PoisonError::into_inner);
            generator.advance_past(number);
        }
    }

    /// Returns the number of this server.
    pub(crate) fn server(&self) -> u16 {
        self.server
    }
}

/// Returns the greatest number of a server in a database.
fn newest_csn(database: &Database, server: u16) -> Option<Csn> {
    let changes = database.store.snapshot().ok()?.changes().ok()?;
    Csn::parse(&changes.vector.of(server)?.text())
}
