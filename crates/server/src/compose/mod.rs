//! A whole server from its settings.
//!
//! ```text
//!   service ----> driver::Server                        listeners, process id file
//!      |  \
//!      |   seed                                         entries that must exist at the first start
//!      |
//!   reload and configure ---> open ---> check ---> convert            settings to a Directory
//!                 |                     |   \-> replication: the directive syncrepl
//!               schema              the words of the crates that act on the settings
//!
//!   configure ---> merge                                 configurations of several providers
//!
//!   editor ---> configure                                changes of a directory without a server
//!      ^
//!   seed_configuration                                   changes of cn=config in files of a start
//!
//!   source                                               where settings come from, what follows them
//!
//!   live_handler ---> live                              answers requests by the newest Directory
//!              \---> audit_files                        the log of changes, after the commit
//! ```

mod audit_files;
pub(crate) mod check;
pub(crate) mod configure;
mod convert;
pub(crate) mod editor;
mod exposure;
pub(crate) mod live;
mod live_handler;
mod merge;
pub(crate) mod open;
mod reload;
mod replication;
pub(crate) mod schema;
pub(crate) mod seed;
mod seed_changes;
pub(crate) mod seed_configuration;
pub(crate) mod service;
pub(crate) mod source;
