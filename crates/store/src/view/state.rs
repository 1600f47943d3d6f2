//! One state of the store: a snapshot, or the changes of a writer so far.

use std::sync::Arc;

use super::lookup_cache::LookupCache;
use crate::attributes::AttributeTable;
use crate::error::StoreError;
use crate::index::Indexes;
use crate::store::Store;
use fulgurite::{ParkedReader, ReadTxn, Snapshot, Txnid};
use fulgurite_schema::Schema;

/// One state of the store. The engine transaction behind it keeps that state readable.
pub struct View<'s, T = ReadTxn<'s>> {
    pub(crate) txn: T,
    pub(crate) store: &'s Store,
    pub(crate) attributes: Arc<AttributeTable>,
    pub(crate) indexes: Arc<Indexes>,
    /// `None` for writers, whose state changes.
    pub(crate) cache: Option<LookupCache>,
}

/// A view without a snapshot, which keeps its reader slot.
pub struct ParkedView<'s> {
    reader: ParkedReader<'s>,
    store: &'s Store,
    attributes: Arc<AttributeTable>,
    indexes: Arc<Indexes>,
}

impl Store {
    /// Returns a view of the newest committed state.
    ///
    /// It takes a reader slot and a reference to the attribute table, which other threads share. A
    /// thread that serves many requests keeps its view ([`View::refresh`], [`View::park`]) and then
    /// shares nothing.
    ///
    /// # Errors
    /// [`StoreError::Engine`], for instance if all reader slots are taken.
    pub fn snapshot(&self) -> Result<View<'_>, StoreError> {
        let txn = self.env.read()?;
        let state = txn.id();
        let mut view = View::new(self, txn, state)?;
        view.cache = Some(LookupCache::default());
        Ok(view)
    }
}

impl<'s> View<'s> {
    /// Moves to the newest committed state. Returns true if that is another state. Then ids, plans
    /// and caches of the old state are hints only.
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn refresh(&mut self) -> Result<bool, StoreError> {
        let before = self.txn.id();
        self.txn.refresh()?;
        if self.txn.id() == before {
            return Ok(false);
        }
        self.cache.iter_mut().for_each(LookupCache::clear);
        self.update_tables()?;
        Ok(true)
    }

    /// Gives up the snapshot, but keeps the reader slot and the tables for a later operation.
    /// Nothing is readable until [`View::refresh`].
    pub fn reset(&mut self) {
        self.txn.reset();
    }

    /// Gives up the snapshot, but keeps the reader slot for [`ParkedView::resume`].
    #[must_use]
    pub fn park(self) -> ParkedView<'s> {
        ParkedView {
            reader: self.txn.park(),
            store: self.store,
            attributes: self.attributes,
            indexes: self.indexes,
        }
    }

    /// Takes the tables of the snapshot from the store's memory.
    fn update_tables(&mut self) -> Result<(), StoreError> {
        let known = self
            .store
            .tables
            .with(self.txn.id(), |attributes, indexes| {
                // Mostly they are the same. A change of a reference count would slow other threads
                // down.
                if !Arc::ptr_eq(&self.attributes, attributes) {
                    self.attributes = Arc::clone(attributes);
                }
                if !Arc::ptr_eq(&self.indexes, indexes) {
                    self.indexes = Arc::clone(indexes);
                }
            });
        if known.is_some() {
            return Ok(());
        }
        if !self.store.tables.covers(&self.attributes, &self.txn)? {
            self.attributes = self.store.tables.attributes_of(&self.txn)?;
        }
        if self.store.tables.index_generation(&self.txn)? != self.indexes.generation {
            self.indexes = self.store.tables.indexes_of(&self.txn, &self.attributes)?;
        }
        Ok(())
    }
}

impl<'s> ParkedView<'s> {
    /// Returns a view of the newest committed state.
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn resume(self) -> Result<View<'s>, StoreError> {
        let txn = self.reader.resume()?;
        let mut view = View {
            txn,
            store: self.store,
            attributes: self.attributes,
            indexes: self.indexes,
            cache: Some(LookupCache::default()),
        };
        view.update_tables()?;
        Ok(view)
    }
}

impl<'s, T: Snapshot> View<'s, T> {
    /// Makes a view of the state that a transaction shows.
    pub(crate) fn new(store: &'s Store, txn: T, state: Txnid) -> Result<View<'s, T>, StoreError> {
        let known = store.tables.with(state, |attributes, indexes| {
            (Arc::clone(attributes), Arc::clone(indexes))
        });
        let (attributes, indexes) = match known {
            Some(known) => known,
            None => {
                let attributes = store.tables.attributes_of(&txn)?;
                let indexes = store.tables.indexes_of(&txn, &attributes)?;
                store.tables.remember(state, &attributes, &indexes);
                (attributes, indexes)
            }
        };
        Ok(View {
            txn,
            store,
            attributes,
            indexes,
            cache: None,
        })
    }

    /// Returns the store.
    #[must_use]
    pub fn store(&self) -> &'s Store {
        self.store
    }

    /// Returns the schema of the store.
    #[must_use]
    pub fn schema(&self) -> &'s Schema {
        &self.store.schema
    }

    /// Returns the attribute descriptions of this state.
    #[must_use]
    pub fn attributes(&self) -> &AttributeTable {
        &self.attributes
    }
}

impl View<'_> {
    /// Returns a number for the state. Two views of a store with the same number see the same
    /// state.
    #[must_use]
    pub fn state(&self) -> u64 {
        self.txn.id().0
    }
}

impl<T: Snapshot> std::fmt::Debug for View<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View")
            .field("store", self.store)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for ParkedView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParkedView")
            .field("store", self.store)
            .finish_non_exhaustive()
    }
}
