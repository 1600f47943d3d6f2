//! Loading many entries into a store in one transaction.
//!
//! ```text
//! calling thread:    parts of the input  --> preparing threads
//! preparing threads: read, check, encode records, make and sort keys       all at once, a part each
//! loading thread:    number, append records            entries: in order of the parts, written once
//!                    parent not there yet?  --> spool, until it comes
//!                    names, postings  --> buffers  --over budget-->  sorted runs in temporary files
//! at the end:        sort or merge, on all threads  -->  append to names and index, page after page
//!                    subordinate counts, commit
//! ```
//!
//! Memory is the budget plus some forty bytes for each entry, to find parents and duplicates. A
//! store with entries is extended through [`Writer`](crate::Writer) instead, also in one
//! transaction.

mod batch;
mod bulk_add_outcome;
mod bulk_load;
mod bulk_writer;
mod empty_store;
mod error;
mod external_sort;
mod key_collector;
mod loaded_state;
mod loader;
mod name_buffer;
mod options;
mod parents;
mod part_reader;
mod pipeline;
mod posting_buffer;
mod posting_chunks;
mod posting_writer;
mod runs;
mod spool;
mod waiting_entry;

pub use batch::LoadBatch;
pub use bulk_add_outcome::BulkAddOutcome;
pub use bulk_load::{BulkLoad, EntryReader};
pub use bulk_writer::{BulkWriteError, BulkWriter};
pub use error::LoadError;
pub use options::{LoadOptions, LoadProgress, LoadReport};
pub use part_reader::PartReader;

#[cfg(test)]
mod tests;
