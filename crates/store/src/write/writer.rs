//! The state of a writer, and the parts that its operations share.

use std::ops::Deref;
use std::sync::Arc;

use super::log_writer::LogWriter;
use super::pending_counts::PendingCounts;
use super::touched::TouchedEntry;
use crate::error::{Damage, StoreError};
use crate::ids::{AttributeId, EntryId};
use crate::index::{IndexState, PendingPostings};
use crate::names;
use crate::plan::{Candidates, Scope};
use crate::store::{Shortage, Store};
use crate::view::View;
use fulgurite::{Snapshot, Txnid, WriteTxn};
use fulgurite_schema::{AttributeDescription, AttributeSelector, Dn, Entry, Filter};

/// The one writer of a store. Look-ups through its [`View`] see its changes. Dropped without
/// [`commit`](Self::commit), it leaves no trace.
pub struct Writer<'s> {
    pub(crate) view: View<'s, WriteTxn<'s>>,
    pub(crate) postings: PendingPostings,
    pub(super) counts: PendingCounts,
    /// The last id given, once known.
    last_id: Option<EntryId>,
    /// Set while changes are in progress. A failure of the engine in between must not be committed.
    poisoned: bool,
    /// The size of the file, if a change failed because it cannot grow.
    full_at: Option<u64>,
    /// The system's number of the error, if a change failed because the disk is full.
    disk_full: Option<i32>,
    /// Changing parts of operations so far, without those that write what was collected.
    pub(super) changes: u64,
    /// True if the commit will make a new state.
    pub(crate) has_changed_entries: bool,
    /// True if that state will have other indexes.
    has_changed_indexes: bool,
    pub(crate) log: LogWriter,
    /// The entries that this writer has touched, if it is watched.
    pub(super) touched: Option<Vec<TouchedEntry>>,
    /// True if updates leave bind states as they are.
    pub(super) is_following: bool,
    /// Memory for a record and a key, reused by the next operation.
    pub(crate) record: Vec<u8>,
    pub(crate) key: Vec<u8>,
}

impl Store {
    /// Returns the writer; waits while another writer is active.
    ///
    /// # Errors
    /// [`StoreError::Engine`], for instance if the store was opened read-only.
    pub fn write(&self) -> Result<Writer<'_>, StoreError> {
        self.writer(self.env.write()?)
    }

    /// As [`write`](Self::write), but returns `None` instead of waiting for another writer.
    ///
    /// # Errors
    /// As there.
    pub fn try_write(&self) -> Result<Option<Writer<'_>>, StoreError> {
        let txn = self.env.try_write()?;
        txn.map(|txn| self.writer(txn)).transpose()
    }

    fn writer<'s>(&'s self, txn: WriteTxn<'s>) -> Result<Writer<'s>, StoreError> {
        // The id of a write transaction is the one of the state that its commit will make.
        let state = Txnid(txn.id().0 - 1);
        Ok(Writer::new(View::new(self, txn, state)?))
    }
}

impl<'s> Deref for Writer<'s> {
    type Target = View<'s, WriteTxn<'s>>;

    fn deref(&self) -> &Self::Target {
        &self.view
    }
}

/// An entry's attributes by number, borrowed from the entry.
pub(crate) type NumberedAttributes<'e> = Vec<(AttributeId, &'e [Vec<u8>])>;

/// Returns the system's number of the error if the disk is full.
fn full_disk(error: &StoreError) -> Option<i32> {
    let is_full = error.shortage() == Some(Shortage::Disk);
    match error {
        StoreError::Engine(fulgurite::Error::Io { source, .. }) if is_full => source.raw_os_error(),
        _ => None,
    }
}

impl<'s> Writer<'s> {
    pub(crate) fn new(view: View<'s, WriteTxn<'s>>) -> Writer<'s> {
        Writer {
            view,
            postings: PendingPostings::default(),
            counts: PendingCounts::default(),
            last_id: None,
            poisoned: false,
            full_at: None,
            disk_full: None,
            changes: 0,
            has_changed_entries: false,
            has_changed_indexes: false,
            log: LogWriter::default(),
            touched: None,
            is_following: false,
            record: Vec::new(),
            key: Vec::new(),
        }
    }

    /// Lets a deletion use the room that the store keeps for it, before it changes anything.
    pub fn use_reserve(&mut self) {
        self.view.txn.use_reserve();
    }

    /// Commits all changes and makes them visible to new snapshots. The durability follows the
    /// store's settings.
    ///
    /// # Errors
    /// [`StoreError::Poisoned`] after an operation that failed in its changing part,
    /// [`StoreError::Engine`]; nothing is changed then.
    pub fn commit(mut self) -> Result<(), StoreError> {
        self.flush()?;
        self.flush_log()?;
        debug_assert!(
            self.postings.is_empty() && self.counts.is_empty(),
            "all is written"
        );
        let View {
            txn,
            store,
            attributes,
            indexes,
            ..
        } = self.view;
        let state = txn.id();
        txn.commit()?;
        store.commit_counters.committed();
        store.tables.publish(&attributes);
        // Without changes there is no new state, and another commit will use its id.
        if self.has_changed_entries && !self.has_changed_indexes {
            store.tables.remember(state, &attributes, &indexes);
        }
        Ok(())
    }

    /// Records the indexes of the next state.
    pub(crate) fn write_index_state(&mut self, state: &IndexState) -> Result<(), StoreError> {
        debug_assert!(state.generation > 0, "a recorded state has a generation");
        self.has_changed_indexes = true;
        state.write(&mut self.view.txn, self.view.store.dbs.meta)
    }

    /// As [`View::plan`](crate::View::plan), on the state with this writer's changes.
    /// # Errors
    /// As [`View::plan`](crate::View::plan).
    pub fn plan(
        &mut self,
        base: EntryId,
        scope: Scope,
        filter: &Filter<AttributeSelector>,
    ) -> Result<Candidates, StoreError> {
        self.flush()?;
        crate::plan::plan(&self.view, base, scope, filter)
    }

    /// Writes the collected changes.
    pub(super) fn flush(&mut self) -> Result<(), StoreError> {
        let changes = self.changes;
        self.apply(|writer| {
            writer
                .postings
                .flush(&mut writer.view.txn, writer.view.store.dbs.index)?;
            writer.flush_counts()
        })?;
        self.changes = changes;
        Ok(())
    }

    /// Returns a number that grows with each change. So a caller sees if something has changed.
    #[must_use]
    pub fn changes_made(&self) -> u64 {
        self.changes
    }

    /// Forgets a failure whose changes have been undone.
    pub(super) fn heal(&mut self) {
        self.poisoned = false;
        self.full_at = None;
        self.disk_full = None;
    }

    /// Notes that an entry has more children, whose names and records are written already.
    pub(crate) fn add_children(&mut self, parent: EntryId, children: i64) {
        debug_assert!(children > 0, "an entry without children has no counts");
        self.counts.change(parent, children, children);
    }

    pub(super) fn flush_counts(&mut self) -> Result<(), StoreError> {
        self.counts.flush(&mut self.view)
    }

    /// Runs the changing part of an operation. If it fails, the writer cannot commit any more.
    pub(crate) fn apply<R>(
        &mut self,
        change: impl FnOnce(&mut Self) -> Result<R, StoreError>,
    ) -> Result<R, StoreError> {
        self.check_not_poisoned()?;
        self.poisoned = true;
        self.changes += 1;
        let result = change(self);
        match &result {
            Ok(_) => self.poisoned = false,
            Err(StoreError::Engine(fulgurite::Error::MapFull(bytes))) => {
                self.full_at = Some(*bytes);
            }
            Err(error) => self.disk_full = full_disk(error),
        }
        result
    }

    /// Returns the reason why the writer cannot commit after a failed change.
    #[must_use]
    pub fn failure(&self) -> StoreError {
        match self.full_at {
            Some(bytes) => StoreError::Engine(fulgurite::Error::MapFull(bytes)),
            None => match self.disk_full {
                Some(code) => StoreError::Engine(fulgurite::Error::Io {
                    doing: "storing the change",
                    source: std::io::Error::from_raw_os_error(code),
                }),
                None => StoreError::Poisoned,
            },
        }
    }

    pub(super) fn check_not_poisoned(&self) -> Result<(), StoreError> {
        if self.poisoned {
            Err(StoreError::Poisoned)
        } else {
            Ok(())
        }
    }

    /// Writes collected postings early if they are many.
    pub(super) fn flush_if_full(&mut self) -> Result<(), StoreError> {
        if self.postings.is_full() {
            self.postings
                .flush(&mut self.view.txn, self.view.store.dbs.index)?;
        }
        debug_assert!(!self.postings.is_full(), "memory is bounded");
        Ok(())
    }

    /// Returns the numbers of the entry's attribute descriptions, and numbers new ones. A number
    /// stays given if the operation is refused later; an unused number does no harm.
    pub(crate) fn number<'e>(
        &mut self,
        entry: &'e Entry,
    ) -> Result<NumberedAttributes<'e>, StoreError> {
        let mut numbered = Vec::with_capacity(entry.attributes.len());
        for attribute in &entry.attributes {
            let id = self.number_description(&attribute.description)?;
            numbered.push((id, attribute.values.as_slice()));
        }
        Ok(numbered)
    }

    /// Returns the number of a description. A new description gets one now.
    pub(crate) fn number_description(
        &mut self,
        description: &AttributeDescription,
    ) -> Result<AttributeId, StoreError> {
        if let Some(id) = self.view.attributes.find(description) {
            return Ok(id);
        }
        let schema = &self.view.store.schema;
        let text = description.text(schema).into_owned();
        let id = Arc::make_mut(&mut self.view.attributes).push(schema, description.clone())?;
        debug_assert_eq!(self.view.attributes.find(description), Some(id));
        self.apply(|writer| {
            Ok(writer
                .view
                .txn
                .put(writer.view.store.dbs.attributes, &id.key(), text.as_bytes())?)
        })?;
        Ok(id)
    }

    pub(super) fn next_id(&mut self) -> Result<EntryId, StoreError> {
        let last = match self.last_id {
            Some(last) => last,
            None => match self.view.txn.cursor(self.view.store.dbs.entries)?.last()? {
                Some((key, _)) => EntryId::from_key(key).ok_or(Damage::Record)?,
                None => EntryId(0),
            },
        };
        let next = EntryId(last.0 + 1);
        debug_assert!(matches!(self.view.record(next), Ok(None)), "the id is free");
        self.last_id = Some(next);
        Ok(next)
    }

    pub(super) fn insert_name(
        &mut self,
        parent: EntryId,
        rdn_normal: &[u8],
        id: EntryId,
    ) -> Result<(), StoreError> {
        let key = self.view.name_key(parent, rdn_normal);
        debug_assert!(
            matches!(self.view.child(parent, rdn_normal), Ok(None)),
            "a parent has one child of a name"
        );
        let names = self.view.store.dbs.names;
        let list = names::with(
            self.view.txn.get(names, &key)?.unwrap_or_default(),
            id,
            rdn_normal,
        );
        Ok(self.view.txn.put(names, &key, &list)?)
    }

    pub(super) fn remove_name(
        &mut self,
        parent: EntryId,
        rdn_normal: &[u8],
        id: EntryId,
    ) -> Result<(), StoreError> {
        let key = self.view.name_key(parent, rdn_normal);
        let names = self.view.store.dbs.names;
        let list = names::without(self.view.txn.get(names, &key)?.ok_or(Damage::Names)?, id)?;
        debug_assert!(
            matches!(names::find(&list, rdn_normal), Ok(None)),
            "the name is gone from the list"
        );
        if list.is_empty() {
            self.view.txn.delete(names, &key)?;
        } else {
            self.view.txn.put(names, &key, &list)?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer")
            .field("view", &self.view)
            .field("poisoned", &self.poisoned)
            .finish_non_exhaustive()
    }
}

/// Returns normal form and text of an entry's name below `parent`. It is the RDN, or the whole name
/// of a suffix entry.
pub(crate) fn name_below(dn: &Dn, parent: EntryId) -> Result<(&str, &str), StoreError> {
    if parent == EntryId::ROOT {
        return Ok((dn.normal(), dn.pretty()));
    }
    let rdn = dn
        .rdn()
        .ok_or_else(|| StoreError::OutsideSuffix(dn.pretty().to_owned()))?;
    Ok((rdn.normal(), rdn.pretty()))
}
