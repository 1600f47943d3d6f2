//! The log of a cluster in etcd, over its JSON gateway.
//!
//! ```text
//!   a node's questions --> Askers of cluster-driver: threads
//!                          |  ChangeLog calls
//!                        EtcdLog: transactions, and the way to settle a doubt
//!                          |  questions in JSON
//!                        Client: one try after another, each at the next member
//!                          |  HTTP/1.1, TLS
//!                        etcd 3.4 and later: /v3/kv/txn, /v3/lease/grant, ...
//! ```
//!
//! Each call has a deadline, and so has each try. A try that is given up may still be taken. So
//! all questions are safe to repeat: they compare first.
//!
//! # Limits
//! A value has one copy in base64 on its way. The gateway knows no names from certificates of
//! clients. With etcd's roles, a node has a user name and a password.

#![forbid(unsafe_code)]

mod client;
mod error;
mod keys;
mod log;
mod members;
mod meta;
mod node_settings;
mod question;
mod settings;
mod space;
mod wire;

pub use error::EtcdError;
pub use log::EtcdLog;
pub use members::Member;
pub use meta::{ClusterMeta, Creation, Overview};
pub use node_settings::{SettingsParts, differences};
pub use settings::{EtcdSettings, TlsFiles};
pub use space::{Space, SpaceError};
