//! The commands of a connection, and their answers.
//!
//! ```text
//!   session     the bytes of one connection: frames, order, limits
//!     |
//!   classic  meta  retrieval  report       one command each; storing: those with a value
//!     |
//!   context     the snapshot or the transaction that commands work on
//!   words       the words of a line
//!   answer      texts and numbers of answers
//! ```
//!
//! A session runs on a snapshot until a command has to write. Then it pauses. The same session goes
//! on in a write transaction, with all commands that have arrived. If that transaction fails, the
//! session goes back to where it was, and its writes are refused.

mod answer;
mod binary;
mod classic;
mod context;
mod meta;
mod meta_flags;
mod meta_set;
mod report;
mod retrieval;
mod session;
mod storing;
mod users;
mod words;

pub(crate) use context::{Context, ItemAccess, ServerFacts};
pub(crate) use session::{Mark, Pause, Session};
pub(crate) use users::Users;
