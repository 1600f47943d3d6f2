//! The node of a cluster: the thread that owns its database, and the ways to etcd and other nodes.
//!
//! ```text
//!   writers, hashing pool --Directory::apply--> ClusterOrder --Handle--> driver thread --> LiveContent
//!                                                                          |      ^            |
//!                                                     NodePeers <----------'      |     newest Directory
//!                                                     etcd  <-- askers -----------'
//!   members thread: addresses of the other nodes, from etcd to NodePeers
//! ```
//! The directory hands all updates of the database to [`order::ClusterOrder`], and waits for their
//! replies. The driver's thread does the updates on the newest directory. A reload takes effect
//! between two batches.

mod certificates;
mod comparison;
mod content;
mod copies;
mod error;
mod lookout;
mod member_space;
mod node;
mod order;
mod read_settings;
mod reads;
mod settings_parts;
mod space_keeper;
mod state;
mod update;

pub use copies::{CopyError, fetch_copy};
pub use error::ClusterError;
pub(crate) use node::ClusterNode;
pub use node::{etcd_settings, peer_trust};
pub(crate) use reads::gate_alone;
pub use settings_parts::settings_parts;
pub(crate) use state::ClusterState;
