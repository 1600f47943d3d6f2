//! Reading one state of the store.
//!
//! ```text
//! state           View: a snapshot, or the changes of a writer so far; refresh, park
//! records         id -> record, entry             find           name -> id
//! dn              id -> name                      children       id -> children, counts
//! entry           EntryView: an entry, undecoded  filter_subject a filter tested against it
//! walk, export    entries in order of ids; parents before children
//! lookup_cache    answers that stay valid for one snapshot
//! bind_state      the values that binds have changed
//! changes         the log of changes
//! greatest_value  the last key of an equality index
//! ```

mod bind_state;
mod changes;
mod children;
mod dn;
mod entry;
mod export;
mod filter_subject;
mod find;
mod greatest_value;
mod lookup_cache;
mod records;
mod state;
mod sync_rows;
mod walk;

pub use changes::{LogLag, Tombstone};
pub use entry::{AttributeView, EntryView, Shape, ValueSelection};
pub use export::Export;
pub use filter_subject::{StoredSelector, compile_filter};
pub use find::NameLookup;
pub use state::{ParkedView, View};
pub use walk::{AllEntries, EntryWalk};
