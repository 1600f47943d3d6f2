//! The log of operations: searches, binds and other requests that change nothing, and refused
//! updates. It has another environment than the store, so that it never delays an update.
//!
//! ```text
//!   append -> records in memory -> flush: one commit
//!               table "operations": second, serial -> record        main tree: the next serial
//! ```
//!
//! Records wait in memory, up to a bound. A timer, a reader, or the thread that exceeds the bound
//! commits them together. Records that wait when the process is killed are lost. Serials are never
//! reused. A commit also drops old records.

mod log;
mod record;

#[cfg(test)]
mod tests;

pub use log::{OperationLog, OperationLogView, OperationPosition};
pub use record::OperationRecord;
