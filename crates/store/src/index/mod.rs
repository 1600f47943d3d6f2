//! From attribute values to postings.
//!
//! ```text
//! config      what the administrator asked for: "mail:eq,sub"
//! kinds       what an index can answer: a table, with a file for each kind
//! resolved    settings resolved against a schema
//! state       which indexes there are, and which are being built or removed
//! indexes     the indexes of a state, by attribute
//! source      values of an entry            entry_keys  the keys of the postings that list it
//! key         bytes of a key                key_range   ranges of keys
//! key_list    keys in one buffer
//! gram        keys of three bytes           chunk_key   the number of a chunk behind a key
//! gram_lists  grams as numbers, to be sorted
//! postings    reading chunks                pending     changes of an open transaction
//!                                           added       those of new entries
//!                                           key_thread  makes them for a large transaction
//! ```
//!
//! One tree holds all indexes.

mod added;
pub(crate) mod chunk_key;
mod config;
mod entry_keys;
pub(crate) mod gram;
pub(crate) mod gram_lists;
mod indexes;
pub(crate) mod key;
mod key_list;
mod key_range;
mod key_thread;
mod kinds;
mod pending;
mod postings;
mod resolved;
mod source;
mod state;

pub use config::IndexSpec;
pub(crate) use entry_keys::KeyMaker;
pub use fulgurite_policy::{IndexKind, IndexKinds};
pub(crate) use indexes::{Index, Indexes};
pub(crate) use key_list::KeyList;
pub(crate) use key_range::KeyRange;
pub(crate) use kinds::{KINDS, KeySink, Lookup, Support, definition_of, equality};
pub(crate) use pending::PendingPostings;
pub(crate) use postings::{
    Extent, FEW, MeasuredPosting, Sole, extent, load_chunk, measure, next_chunk, sole, union_range,
};
pub(crate) use resolved::{ResolvedSpec, resolve};
pub(crate) use source::{TypedRecord, ValueSource};
pub use state::IndexStage;
pub(crate) use state::{IndexState, WorkItem};
