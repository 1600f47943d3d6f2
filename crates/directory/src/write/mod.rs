//! One update: what it checks, changes and stamps.

pub(crate) mod changes;
pub(crate) mod context;
pub(crate) mod derived_keys;
pub(crate) mod import;
pub(crate) mod multi_value;
pub(crate) mod permission;
pub(crate) mod stamp;
