//! Monitoring over HTTP on a separate address: `/metrics`, `/healthz`, `/readyz`.
//!
//! ```text
//!   client --> listener --> connection --> http: one bounded request       a thread each, a few at most
//!                               |
//!                               +--> health     is the server alive, and does it take requests?
//!                               '--> collect    figures of statistics, stores, process
//!                                      '--> family    their names, as OpenMetrics
//! ```
//! The thread of the listener begins before the stores open. Nothing here runs on the threads that
//! answer LDAP.

mod backups;
mod collect;
mod connection;
pub(crate) mod family;
pub(crate) mod health;
mod http;
pub(crate) mod listener;
mod process;
mod stores;
mod token;

pub use connection::answer_metrics_bytes;
pub(crate) use stores::csn_seconds;

#[cfg(test)]
mod tests;
