//! The log of changes: a record of each change of an entry, in the commit of the change.
//!
//! ```text
//!   changes       position             -> record: kind, CSN, entry, names, operations
//!   change_csn    server, CSN, position   -> nothing; only records in no chain
//!   tombstones    0, entryUUID         -> CSN and position of the deletion, time, [end], name
//!                 1, server, CSN, entryUUID -> nothing
//!   main tree     "changes.state"      -> LogState: positions, bytes, vector, horizons, chains
//! ```
//!
//! Positions count the changes and are never reused. The *vector* has the greatest CSN of each
//! server up to which the content is complete. It is written with the changes, so a crash cannot
//! separate them. The *horizon* has the greatest CSN of each server that the log has dropped.
//! A *chain* has the records of a server whose numbers ascend; see [`chain`].
//!
//! The state is next to the records of the named databases, whose page each commit writes anyway.
//!
//! Changes of other servers may share a number, and may come out of order. See `is_unordered` of
//! [`NewChange`].
//!
//! Appending is in `write`, reading in `view`. A commit that appends drops old records too, twice
//! as many at most. A bulk load writes one record, and drops the others. Consumers from before it
//! get everything.

mod chain;
mod csn;
mod key;
mod record;
mod retention;
mod state;
mod vector;

#[cfg(test)]
mod layout_tests;
#[cfg(test)]
mod room_tests;
#[cfg(test)]
mod tests;

pub(crate) use chain::{ChainEnd, Chains};
pub use csn::PackedCsn;
pub(crate) use key::{
    BY_CSN, HAS_END, change_key, change_of_key, csn_key, tombstone_key, tombstone_of_key, uuid_key,
};
pub use record::{
    ANNOUNCED, CONTROLS, ChangeKind, ChangeOperation, ChangeRecord, NewChange, NewOperation,
    NewRename, OLD_VALUES, RESPONSE_CONTROLS,
};
pub use retention::Retention;
pub(crate) use retention::SharedRetention;
pub use state::LogState;
pub use vector::CsnVector;
