//! The words about a connection to a provider, which `syncrepl` and `chain` share.

pub(crate) mod parse;
pub(crate) mod write;
