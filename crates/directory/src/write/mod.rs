//! One update: its context on the writer, its changes, its stamps.
//!
//! [`request`] is what other crates hand to the writer. The operations in `op` use the rest.

mod ask_guards;
pub(crate) mod audit;
pub(crate) mod bind_change;
pub(crate) mod change_log;
pub(crate) mod changes;
pub(crate) mod context;
pub(crate) mod derived_keys;
mod follow;
pub(crate) mod forwarded;
pub(crate) mod import;
pub(crate) mod multi_value;
pub(crate) mod ordered_values;
mod overlay_check;
pub(crate) mod password_policy;
mod permission;
pub(crate) mod replicated;
pub(crate) mod request;
pub(crate) mod stamp;
pub(crate) mod unusable_policy;
pub(crate) mod update_order;
