//! Attribute tables and indexes in memory, by the states of the store that they belong to.

use std::sync::Arc;

use super::databases::Databases;
use crate::attributes::{AttributeTable, TableError};
use crate::error::{Damage, StoreError};
use crate::index::{IndexState, Indexes};
use arc_swap::{ArcSwap, ArcSwapOption};
use fulgurite::{Snapshot, Txnid};
use fulgurite_schema::Schema;

/// The tables that this process has read. Readers take no lock.
pub(crate) struct StateTables {
    schema: Arc<Schema>,
    dbs: Databases,
    /// The newest attribute table that this process has seen. A view keeps its own reference and
    /// looks here only if its snapshot has more attributes.
    attributes: ArcSwap<AttributeTable>,
    /// The newest indexes that this process has seen. A view keeps the indexes of its snapshot.
    indexes: ArcSwap<Indexes>,
    /// Both tables of the newest state that this process has read. Most snapshots are of the same
    /// state as the snapshot before, and need not be asked.
    newest: ArcSwapOption<Tables>,
}

/// The tables of one state of the store.
struct Tables {
    state: Txnid,
    attributes: Arc<AttributeTable>,
    indexes: Arc<Indexes>,
}

impl StateTables {
    pub(crate) fn new(
        schema: Arc<Schema>,
        dbs: Databases,
        attributes: AttributeTable,
        indexes: Indexes,
    ) -> StateTables {
        StateTables {
            schema,
            dbs,
            attributes: ArcSwap::from_pointee(attributes),
            indexes: ArcSwap::from_pointee(indexes),
            newest: ArcSwapOption::empty(),
        }
    }

    /// Calls `use_tables` with the tables of a state, if they are in memory.
    pub(crate) fn with<R>(
        &self,
        state: Txnid,
        use_tables: impl FnOnce(&Arc<AttributeTable>, &Arc<Indexes>) -> R,
    ) -> Option<R> {
        let tables = self.newest.load();
        let tables = tables.as_ref().filter(|tables| tables.state == state)?;
        Some(use_tables(&tables.attributes, &tables.indexes))
    }

    /// Remembers the tables of a state.
    pub(crate) fn remember(
        &self,
        state: Txnid,
        attributes: &Arc<AttributeTable>,
        indexes: &Arc<Indexes>,
    ) {
        self.newest.store(Some(Arc::new(Tables {
            state,
            attributes: Arc::clone(attributes),
            indexes: Arc::clone(indexes),
        })));
    }

    /// Returns the newest indexes that this process has seen.
    pub(crate) fn newest_indexes(&self) -> Arc<Indexes> {
        self.indexes.load_full()
    }

    /// Returns the generation of the indexes of a snapshot.
    pub(crate) fn index_generation(&self, txn: &impl Snapshot) -> Result<u64, StoreError> {
        IndexState::generation_of(txn, self.dbs.meta)
    }

    /// Returns the indexes of a snapshot.
    pub(crate) fn indexes_of(
        &self,
        txn: &impl Snapshot,
        table: &AttributeTable,
    ) -> Result<Arc<Indexes>, StoreError> {
        let generation = self.index_generation(txn)?;
        let newest = self.indexes.load_full();
        if newest.generation == generation {
            return Ok(newest);
        }
        let state = IndexState::read(txn, self.dbs.meta)?;
        let indexes = Arc::new(Indexes::of_state(&self.schema, &state, table)?);
        self.indexes.rcu(|current| {
            let is_newer = generation > current.generation;
            Arc::clone(if is_newer { &indexes } else { current })
        });
        Ok(indexes)
    }

    /// Remembers a committed attribute table, unless a longer one is known.
    pub(crate) fn publish(&self, table: &Arc<AttributeTable>) {
        self.attributes.rcu(|current| {
            let is_newer = table.len() > current.len();
            Arc::clone(if is_newer { table } else { current })
        });
    }

    /// Returns a table that has at least every attribute of the snapshot.
    pub(crate) fn attributes_of(
        &self,
        txn: &impl Snapshot,
    ) -> Result<Arc<AttributeTable>, StoreError> {
        let table = self.attributes.load_full();
        if self.covers(&table, txn)? {
            return Ok(table);
        }
        let newer = AttributeTable::load(txn, self.dbs.attributes, &self.schema);
        let newer = Arc::new(newer.map_err(|error| match error {
            TableError::Store(error) => error,
            TableError::Undefined(_) => Damage::Attribute.into(),
        })?);
        self.publish(&newer);
        Ok(newer)
    }

    /// Returns true if the table has every attribute of the snapshot.
    pub(crate) fn covers(
        &self,
        table: &AttributeTable,
        txn: &impl Snapshot,
    ) -> Result<bool, StoreError> {
        // The table only grows, so its length says whether it is complete.
        Ok(table.len() as u64 >= txn.stat(self.dbs.attributes)?.entries)
    }
}
