//! The indexes of a store, and the progress of the work on them.

use crate::error::StoreError;
use crate::index::{IndexKind, IndexSpec, IndexStage, IndexState};
use crate::store::Store;

/// The current indexes of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexStatus {
    /// Complete indexes, which searches use.
    pub complete: Vec<IndexSpec>,
    /// The work on others.
    pub work: Vec<IndexWork>,
    /// The last entry's id, at which filling ends.
    pub last_id: u64,
}

/// One kind of index of one attribute that is being built or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexWork {
    /// The attribute's name.
    pub attribute: String,
    /// The kind of index.
    pub kind: IndexKind,
    /// The stage of the work.
    pub stage: IndexStage,
    /// The first entry that is not in the index yet.
    pub position: u64,
}

impl IndexWork {
    /// Returns the part of the entries that is in the index, from 0 to 100.
    #[must_use]
    pub fn percent(&self, last_id: u64) -> u64 {
        match self.stage {
            IndexStage::Fill => {
                let done = self.position.saturating_sub(1).min(last_id);
                done.saturating_mul(100).checked_div(last_id).unwrap_or(100)
            }
            IndexStage::Clear | IndexStage::Drop => 0,
        }
    }
}

impl Store {
    /// Returns the indexes of the newest committed state.
    /// # Errors
    /// [`StoreError`] if the engine fails or the store's description is damaged.
    pub fn index_status(&self) -> Result<IndexStatus, StoreError> {
        let view = self.snapshot()?;
        let state = IndexState::read(&view.txn, self.dbs.meta)?;
        let last = view.last_entry_id()?;
        let work = state.work.into_iter().map(|work| IndexWork {
            attribute: work.attribute,
            kind: work.kind,
            stage: work.stage,
            position: work.position,
        });
        Ok(IndexStatus {
            complete: state.complete.into_iter().map(|one| one.spec).collect(),
            work: work.collect(),
            last_id: last.0,
        })
    }
}
