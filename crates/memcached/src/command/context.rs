//! The data that commands work on.

use std::path::PathBuf;

use fulgurite::{Error, ReadTxn, Snapshot as _};

use super::users::Users;
use crate::cache::Cache;
use crate::cache::changes::Changes;
use crate::cache::item::Item;
use crate::statistics::{Counters, Statistics};

/// The facts of a server that commands tell.
#[derive(Debug)]
pub(crate) struct ServerFacts {
    pub(crate) version: String,
    pub(crate) value_max: usize,
    pub(crate) threads: usize,
    pub(crate) connections_max: usize,
    pub(crate) has_tls: bool,
    pub(crate) idle_timeout_s: u64,
    pub(crate) data: PathBuf,
    pub(crate) users: Option<Users>,
    pub(crate) statistics: Statistics,
}

/// The items as a command may use them.
pub(crate) enum ItemAccess<'a, 'c> {
    /// A snapshot.
    Read(&'a ReadTxn<'c>),
    /// A transaction. Reads see its changes.
    Write(&'a mut Changes<'c>),
    /// A snapshot, after the transaction of these commands failed.
    Refused(&'a ReadTxn<'c>, &'static str),
}

/// The reason why a command does not run here.
#[derive(Debug)]
pub(crate) enum Interrupt {
    /// It has to write.
    NeedsWriter,
    /// It has to write, and that failed, for this reason.
    Refused(&'static str),
    /// The engine failed.
    Engine(Error),
}

impl From<Error> for Interrupt {
    fn from(error: Error) -> Interrupt {
        Interrupt::Engine(error)
    }
}

/// The surroundings of a command.
pub(crate) struct Context<'a, 'c> {
    pub(crate) cache: &'c Cache,
    pub(crate) server: &'a ServerFacts,
    pub(crate) counters: &'a Counters,
    pub(crate) access: ItemAccess<'a, 'c>,
    pub(crate) now_s: u32,
}

impl<'c> Context<'_, 'c> {
    /// Returns an item that clients see.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Item<'_>>, Interrupt> {
        let txn = match &self.access {
            ItemAccess::Read(txn) | ItemAccess::Refused(txn, _) => txn,
            ItemAccess::Write(changes) => return Ok(changes.get(key)?),
        };
        let item = txn.get(self.cache.items(), key)?.and_then(Item::read);
        let flushed_cas = self.cache.flushed_cas();
        Ok(item.filter(|item| item.is_visible(self.now_s, flushed_cas)))
    }

    /// Returns the transaction to write in.
    pub(super) fn changes(&mut self) -> Result<&mut Changes<'c>, Interrupt> {
        match &mut self.access {
            ItemAccess::Read(_) => Err(Interrupt::NeedsWriter),
            ItemAccess::Write(changes) => Ok(changes),
            ItemAccess::Refused(_, reason) => Err(Interrupt::Refused(reason)),
        }
    }
}
