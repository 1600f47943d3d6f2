//! From attribute values to postings.
//!
//! ```text
//! config     what the administrator asked for: "mail:eq,sub"
//! indexes    the same, resolved against a schema
//! emit       entry -> keys of the postings it belongs to
//! key        bytes of a key; ranges of keys
//! postings   reading and changing chunks in the index tree
//! state      which indexes there are, and which are being made or unmade
//! ```
//!
//! One tree holds all indexes. There is no separate index for ordering or for `initial*`: keys are normal
//! forms, whose byte order is the rule's order, so both are scans of the equality keys.

mod config;
mod emit;
mod indexes;
pub(crate) mod key;
mod pending;
mod postings;
mod state;

pub use config::{IndexKind, IndexKinds, IndexSpec};
pub(crate) use emit::{
    END, EmitSource, GramLookup, KeySink, START, each_gram, emit, emit_to, grams_of_piece,
};
pub(crate) use indexes::{Index, Indexes, ResolvedSpec};
pub(crate) use key::{KeyRange, Kind, literal_value};
pub(crate) use pending::PendingPostings;
pub(crate) use postings::{Extent, FEW, extent, load_chunk, next_chunk, union_range};
pub use state::IndexStage;
pub(crate) use state::{IndexState, Work};
