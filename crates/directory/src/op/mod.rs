//! The operations of RFC 4511, one module each, and the batches that updates run in. Search has its
//! own folder.

mod access_query;
pub(crate) mod add;
mod authorize;
pub(crate) mod batch;
pub(crate) mod begin_update;
pub(crate) mod bind;
mod bind_policy;
mod bind_record;
pub(crate) mod compare;
pub(crate) mod delete;
mod end_activity;
pub(crate) mod extended;
pub(crate) mod extended_step;
pub(crate) mod forward;
mod logged_request;
pub(crate) mod modify;
pub(crate) mod modify_dn;
pub(crate) mod operation_record;
pub(crate) mod ordered;
pub(crate) mod password_modify;
mod replicate;
mod start_tls;
pub(crate) mod transaction;
pub(crate) mod tree_update;
pub(crate) mod update;
