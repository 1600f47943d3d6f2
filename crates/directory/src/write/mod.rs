//! One update: what it checks, changes and stamps.

pub(crate) mod change;
pub(crate) mod changes;
pub(crate) mod context;
pub(crate) mod derived_keys;
pub(crate) mod import;
pub(crate) mod multi_value;
mod permission;
pub(crate) mod request;
pub(crate) mod stamp;
