//! Entries that no store holds: the root DSE, the subschema subentry, the monitor, the
//! configuration.
//!
//! [`namespace`] also says which part of the directory a name belongs to.

pub(crate) mod access_log;
pub(crate) mod audit_entry;
pub(crate) mod namespace;
pub(crate) mod root_dse;
mod set;
mod subschema;
pub(crate) mod tree;
