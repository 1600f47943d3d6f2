//! Entries, names, indexes, id sets, query planning and bulk load over the engine.
//!
//! ```text
//!              find(dn) plan(filter)                 add modify rename delete       bulk load
//!                     |                                        |                        |
//!   View  -->  names  index --> Candidates: ids   Writer  -->  pending postings    sorted runs
//!                     |                |                       |                        |
//!   EntryView  <--  records  <---------'                       v                        v
//!   ================ engine: one environment, eleven named databases, one transaction =================
//!   meta | values: overflow values, outside the records
//!        | attributes: number -> description | entries: id -> record | names: parent, RDN -> id
//!        | counts: id -> subordinates        | index: attribute, kind, value, chunk -> ids
//!        | changes, change_csn, tombstones: the log of changes; its state is in the main tree
//!        | bind_state: id -> the values that binds have changed
//! ```
//!
//! An entry is never decoded: filters, access checks and encoders read its record in the map. A
//! plan yields candidates in ascending order of ids, one chunk of the index at a time. It says if
//! they are exact.
//!
//! This crate knows no operations, no access rules and no result codes. It trusts entries that the
//! schema has checked. The layout may change until the project's first release; nothing outside
//! this crate knows it.
//!
//! The folders from the bottom up: `names`, `idset`, `record` and `changes` are structures of
//! bytes. `overflow_values` and `index` are rows of the databases. `store` is the open store, and
//! `view` reads one state of it. `operations` is a log in another environment. `plan`, `write`,
//! `verify`, `reindex` and `load` work on views, and `open` creates and opens stores.

#![forbid(unsafe_code)]

mod attributes;
mod bind_state;
mod bytes;
mod changes;
mod error;
mod ids;
mod idset;
mod index;
mod load;
mod names;
mod open;
mod operations;
mod overflow_values;
mod plan;
mod record;
mod reindex;
mod store;
mod verify;
mod view;
mod write;

/// Durability of a commit, for [`StoreOptions::durability`].
pub use fulgurite::{Durability, FlushTimes};

pub use attributes::{AttributeInfo, AttributeTable};
pub use bind_state::BIND_STATE_ATTRIBUTES;
pub use changes::{
    ANNOUNCED, CONTROLS, ChangeKind, ChangeOperation, ChangeRecord, CsnVector, LogState, NewChange,
    NewOperation, NewRename, OLD_VALUES, PackedCsn, RESPONSE_CONTROLS, Retention,
};
pub use error::{Damage, OpenError, StoreError};
pub use fulgurite::Snapshot;
pub use ids::{AttributeId, EntryId};
pub use index::{IndexKind, IndexKinds, IndexSpec, IndexStage};
pub use load::{
    BulkAddOutcome, BulkLoad, BulkWriteError, BulkWriter, EntryReader, LoadBatch, LoadError,
    LoadOptions, LoadProgress, LoadReport, PartReader,
};
pub use names::DnCache;
pub use operations::{OperationLog, OperationLogView, OperationPosition, OperationRecord};
pub use plan::{Candidates, Planning, Scope, SoleOwner, WantedValue};
pub use record::{EncodedHeader, Values, ValuesIter, ValuesPosition};
pub use reindex::{IndexProgress, IndexStatus, IndexWork};
pub use store::{CommitCounts, LogReader, LogReaderFigures, Shortage, Store, StoreOptions};
pub use verify::{Report, verify};
pub use view::{
    AllEntries, AttributeView, EntryView, EntryWalk, Export, LogLag, NameLookup, ParkedView, Shape,
    StoredSelector, Tombstone, ValueSelection, View, compile_filter,
};
pub use write::{
    ChangedValues, EntryContent, LogPurged, RoomFor, Savepoint, TouchedEntry, ValueChange, Writer,
};

#[cfg(test)]
mod testing;
