//! Entries that no store holds: the root DSE, the subschema subentry, the monitor and the configuration.

pub(crate) mod root_dse;
pub(crate) mod tree;
