//! Changing entries: one writer, one engine transaction, any number of operations.
//!
//! Every operation checks everything before it changes anything, so one that is refused leaves no trace and the
//! others of the batch go on. Postings and counts are collected and written once, at commit.

mod add;
mod counts;
mod delete;
mod difference;
mod modify;
mod place;
mod rename;
mod values;
mod writer;

pub use values::ValueChange;
pub(crate) use values::{hashed, same_as};
pub use writer::Writer;
pub(crate) use writer::{Numbered, name_below};

#[cfg(test)]
mod tests;
