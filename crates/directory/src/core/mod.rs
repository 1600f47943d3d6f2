//! The base of the crate: schema, databases, sessions, time.
//!
//! [`foundation::Core`] holds the parts that every operation needs. Nothing here knows an
//! operation.

pub(crate) mod authz_rules;
pub(crate) mod change_signal;
pub(crate) mod clock;
pub(crate) mod connection;
pub(crate) mod control_text;
pub(crate) mod cookie;
pub(crate) mod csn;
pub(crate) mod database;
pub(crate) mod databases;
pub(crate) mod dynamic_lists;
pub(crate) mod entry_identity;
pub(crate) mod error;
pub(crate) mod filter_text;
pub(crate) mod forwarded_bind;
pub(crate) mod foundation;
pub(crate) mod group_queue;
pub(crate) mod index_advice;
pub(crate) mod limits;
pub(crate) mod logged_operations;
pub(crate) mod masked;
pub(crate) mod membership;
pub(crate) mod notices;
pub(crate) mod replication;
pub(crate) mod requester;
pub(crate) mod result;
pub(crate) mod sasl_exchange;
pub(crate) mod session;
pub(crate) mod slow_searches;
pub(crate) mod transaction_queue;
pub(crate) mod value_order;
pub(crate) mod well_known_types;
