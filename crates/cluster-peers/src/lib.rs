//! Messages between the nodes of a cluster, over mutual TLS.
//!
//! ```text
//!   driver --> NodePeers --> Links: a queue and a thread for each other node --TLS--> its Listener
//!                                                                                      |
//!   driver <-- Handle <------ frames, judged <----- a thread for each connection <-----'
//! ```
//!
//! A connection carries frames in one direction: from the node that opened it. So the answer to an
//! update comes by the connection of the other node. Each frame has a length, bounded, and a kind.
//! The first one names the format, the cluster and the node.
//!
//! Both certificates are for `node-NUMBER.CLUSTER.fulgurite`. So other certificates of the same
//! authority open nothing, and a node speaks for itself only.
//!
//! # Limits
//! A lost connection leaves the outcomes of sent updates unknown; those not sent are refused.

#![forbid(unsafe_code)]

mod bytes;
mod copies;
mod deadline;
mod error;
mod frame;
mod links;
mod listener;
mod node_peers;
mod reading;
mod settings;
mod trust;

pub use copies::{CopyHeader, CopyReceiver, CopyServer, ServedCopy, fetch};
pub use error::{FORMAT, FrameError};
pub use frame::{FRAME_BYTES_MAX, Frame, WireOutcome};
pub use links::Links;
pub use listener::Listener;
pub use node_peers::{CopySource, NodeList, NodePeers, Positions, Wire};
pub use settings::LinkSettings;
pub use trust::{PeerTrust, TrustError, TrustFiles};
