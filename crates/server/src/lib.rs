//! The LDAP server: sessions, the threads that drive them, TLS, and a whole server from its
//! settings.
//!
//! ```text
//!   compose    settings to a running service: open, check, reload, seed; the handler `Live`
//!      |
//!      +-------> admin      entries for cn=Monitor and cn=config, background indexing
//!      |
//!   metrics    figures and probes over HTTP, on a thread of its own
//!   console    the console in the browser: its sockets, and its way to this server
//!   backup     copies of all databases, now and by a schedule
//!      |
//!   driver     sockets and threads: acceptor, workers, writers, hashing pool     does all I/O
//!      |
//!      +-------> tls        certificates, cipher suites, the TLS layer of a connection
//!      |
//!   replication  copies of other servers' databases: a thread for each provider
//!   forwarding   updates of copies that other servers make
//!   cluster      the node of a cluster: its database, and the ways to etcd and other nodes
//!      |
//!      +-------> outgoing   connections to other servers
//!
//!   session    the protocol of one connection: bytes in, bytes out               no sockets
//!      |
//!   statistics counters that sessions and workers write, cn=Monitor and metrics read
//! ```
//!
//! Arrows point downward only. A [`Session`] is a state machine that knows neither sockets nor
//! time. [`Server`] drives sessions with one event loop per core. Another driver needs only the
//! public methods of [`Session`]; `bench/` has one for comparison.
//!
//! `session` and `driver` do not know entries. A session passes each request to a [`Handler`] as a
//! message borrowed from the read buffer. The handler writes the response as bytes into the write
//! buffer. Only `admin` and `compose` know entries and stores.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::unwrap_used))]

mod admin;
mod backup;
mod backup_status;
mod cluster;
mod compose;
mod console;
mod driver;
mod forwarding;
mod log_loss;
mod metrics;
mod outgoing;
mod replication;
mod replication_status;
mod session;
mod statistics;
mod tls;

pub use admin::monitor::{Monitor, MonitoredDatabase, MonitoredKind};
pub use backup::{
    Backup, BackupError, BackupManifest, BackupSource, SavedDatabase, digest_of, last_failure,
    list_backups, remove_old_backups, write_backup,
};
pub use cluster::{ClusterError, CopyError, etcd_settings, fetch_copy, peer_trust, settings_parts};
pub use compose::check::{
    CheckError, check_settings, check_suffix_names, check_unfinished_settings,
};
pub use compose::configure::check_tls;
pub use compose::editor::{ConfigEditor, Consequences, check_config_files};
pub use compose::live::Live;
pub use compose::open::{OpenError, open_directory, store_options};
pub use compose::schema::schema;
pub use compose::seed::SeedError;
pub use compose::seed_configuration::with_seed_configuration;
pub use compose::service::{Service, ServiceEnd, ServiceError, ServiceOptions, found_cluster};
pub use compose::source::SettingsSource;
pub use driver::descriptors::raise_descriptor_limit;
pub use driver::error::ServerError;
pub use driver::server::Server;
pub use driver::settings::{AddressFamilies, Hangup, ServerSettings};
pub use driver::stop::StopHandle;
pub use fulgurite_directory::{ExtendedReply, ExtendedStep, Progress};
pub use fulgurite_policy::{CrlCheck, TlsOptions, TlsVersion, VerifyClient};
pub use log_loss::count_lost_log_line;
pub use metrics::answer_metrics_bytes;
pub use metrics::family::{metric_names, metrics_table};
pub use session::bind_delays::BindDelays;
pub use session::cancel_token::CancelToken;
pub use session::handler::{Handler, ReadGate, RunningSearch, StateListener, StateWish};
pub use session::job::{CheckId, Job, Turn};
pub use session::limits::SessionLimits;
pub use session::log::OperationLog;
pub use session::protocol::Session;
pub use session::quota::IdentityQuotas;
pub use statistics::{SearchWork, Statistics};
pub use tls::certificate::{CertificateFacts, certificate_facts};
pub use tls::error::TlsError;
