//! Entries, names, indexes, id sets, query planning and bulk load over the engine.
//!
//! ```text
//!              find(dn) plan(filter)                 add modify rename delete       bulk load
//!                     |                                        |                        |
//!   View  -->  names  index --> Candidates: ids   Writer  -->  pending postings    sorted runs
//!                     |                |                       |                        |
//!   EntryView  <--  records  <---------'                       v                        v
//!   ================ engine: one environment, seven named databases, one transaction ====================
//!   meta | values: of attributes with many, apart from the record
//!        | attributes: number -> description | entries: id -> record | names: parent, RDN -> id
//!        | counts: id -> subordinates        | index: attribute, kind, value, chunk -> ids
//! ```
//!
//! An entry is never decoded: filters, access checks and encoders read its record where it lies in the map. A plan
//! yields candidates in ascending order of ids, a chunk of the index at a time, and says whether they are exact.
//!
//! What this crate is not: it knows no operations, no access rules, no result codes, and it takes entries on trust
//! once the schema has checked them. The layout may change until the project's first release; nothing outside this
//! crate knows it.

#![forbid(unsafe_code)]

mod attributes;
mod bytes;
mod error;
mod ids;
mod idset;
mod index;
mod load;
mod names;
mod open;
mod overflow_values;
mod plan;
mod record;
mod reindex;
mod store;
mod verify;
mod view;
mod write;

/// How sure a commit is, for [`StoreOptions::durability`].
pub use fulgurite::Durability;

pub use attributes::{AttributeInfo, AttributeTable};
pub use error::{Damage, OpenError, StoreError};
pub use fulgurite::Snapshot;
pub use ids::{AttributeId, EntryId};
pub use index::{IndexKind, IndexKinds, IndexSpec, IndexStage};
pub use load::{
    BulkAddOutcome, BulkLoad, BulkWriteError, BulkWriter, EntryReader, LoadBatch, LoadError,
    LoadOptions, LoadProgress, LoadReport, PartReader,
};
pub use names::DnCache;
pub use plan::{Candidates, Planning, Scope};
pub use record::{EncodedHeader, Values, ValuesIter};
pub use reindex::{IndexProgress, IndexStatus, IndexWork};
pub use store::{Store, StoreOptions};
pub use verify::{Report, verify};
pub use view::{
    AllEntries, AttributeView, EntryView, EntryWalk, Export, NameLookup, ParkedView, Shape,
    StoredSelector, ValueSelection, View, compile_filter,
};
pub use write::{ValueChange, Writer};

#[cfg(test)]
mod testing;
