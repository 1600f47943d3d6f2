//! Changing entries: one writer, one engine transaction, any number of operations.
//!
//! Every operation checks everything before it changes anything. So a refused operation leaves no
//! trace, and the others of the batch continue. Postings and counts are collected and written once,
//! at commit.

mod add;
mod bind_state;
mod delete;
mod difference;
mod log;
mod log_writer;
mod modify;
mod modify_values;
mod pending_counts;
mod placeholder;
mod put_record;
mod rename;
mod savepoint;
mod sync_rows;
mod touched;
mod value_change;
mod watch;
mod writer;

pub use log::{LogPurged, RoomFor};
pub use savepoint::Savepoint;
pub use touched::{ChangedValues, EntryContent, TouchedEntry};
pub use value_change::ValueChange;
pub use writer::Writer;
pub(crate) use writer::{NumberedAttributes, name_below};

#[cfg(test)]
mod bind_state_tests;
#[cfg(test)]
mod tests;
