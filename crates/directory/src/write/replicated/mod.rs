//! The second kind of update: a change of a copied content, as a provider tells it.
//!
//! ```text
//!   ContentChange --> applier --+--> entry_state   add, change, rename by entryUUID; taken names
//!     (a batch)                 |       |-> incoming   attributes by the schema, massage, selection
//!                               |       `-> merge      where clients update the copy, too
//!                               |             |-> conflict   the report of what was not kept
//!                               |             |-> place      where entries are, and since when
//!                               |             `-> waiting    entries whose name another one has
//!                               +--> removal       delete, glue in place of parents, unnamed entries
//!                               +--> logged        operations of an access log
//!                               |       `-> logged_merge   where clients update the copy, too
//!                               +--> reached       the store's vector, in the same transaction
//!                               +--> change_record the log of changes, for consumers of this server
//!                               `--> quarantine    entries that cannot be stored
//! ```
//!
//! A first refresh into an empty store goes another way. `fill` takes the entries, by the store's
//! bulk writer, and the applier gets the rest.
//!
//! No rights are asked, no overlay judges or follows, and stamps come as they are. An entry that
//! the store refuses waits in the quarantine, and the others go on.

pub(crate) mod applier;
mod bind_values;
mod change_record;
mod conflict;
mod content;
mod entry_state;
mod error;
mod fill;
mod glue;
mod incoming;
mod join;
mod logged;
mod logged_merge;
mod merge;
mod named_entries;
mod numbers;
mod place;
mod quarantine;
mod quarantine_rows;
mod reached;
mod removal;
mod row_reader;
mod stamps;
mod state;
mod told;
mod untold;
mod waiting;
mod waiting_rows;

pub use applier::ContentReport;
pub use conflict::{Conflict, ConflictKind, conflicts};
pub use content::{ContentOptions, CopiedContent};
pub use error::ContentError;
pub use fill::{ContentFill, FillStep};
pub(crate) use place::{forget_place_of, place_of, put_place_of};
pub use quarantine::QuarantinedEntry;
pub(crate) use quarantine::quarantined;
pub(crate) use quarantine_rows::{QuarantineSize, quarantined_by};
pub(crate) use stamps::{EntryStamps, forget_stamps, put_stamps, stamps_of};
pub(crate) use state::state_of;
pub(crate) use untold::untold;
