//! The surroundings that a server gives to its console.

use std::fmt;
use std::sync::Arc;

use fulgurite_client::{Client, ClientError};
use rustls::ServerConfig;

use crate::about::AboutServer;

/// Makes a connection to the server, without an identity.
pub type Dial = Arc<dyn Fn() -> Result<Client, ClientError> + Send + Sync>;

/// Returns the TLS of a new connection; `None` if there is no certificate now.
pub type TlsSource = Arc<dyn Fn() -> Option<Arc<ServerConfig>> + Send + Sync>;

/// The surroundings of a console.
#[derive(Clone)]
pub struct ConsoleOptions {
    /// Makes connections to the server.
    pub dial: Dial,
    /// The TLS of the pages; absent, they are plain HTTP.
    pub tls: Option<TlsSource>,
    /// Names that browsers may know this machine by. Addresses and `localhost` need no name here.
    pub hosts: Vec<String>,
    /// Facts about the server.
    pub about: AboutServer,
}

impl fmt::Debug for ConsoleOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsoleOptions")
            .field("tls", &self.tls.is_some())
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}
