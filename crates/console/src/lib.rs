//! The console in the browser: pages over HTTP about the directory of the same server.
//!
//! ```text
//!   browser --> edge: connections, bounds, TLS          one thread, hyper
//!                 |
//!                app: host, origin, session, token      threads that may wait
//!                 |
//!                pages: login, own page, users, groups, tree, overview
//!                 |
//!                ldap: one connection a session, bound as its user --> the server
//! ```
//!
//! The console is a client of its server for everything. So it can do nothing that LDAP would
//! refuse, and it keeps no password. All pages work without a script.

#![forbid(unsafe_code)]

mod app;
mod edge;
mod guard;
mod history;
mod ldap;
mod names;
mod pages;
mod request;
mod schema;
mod secrets;
mod sessions;
mod throttle;

use std::fmt;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use fulgurite_client::{Client, ClientError};
use rustls::ServerConfig;
use tokio::sync::oneshot;

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
}

impl fmt::Debug for ConsoleOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsoleOptions")
            .field("tls", &self.tls.is_some())
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

/// A running console. It ends when this value is dropped.
#[derive(Debug)]
pub struct Console {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Console {
    /// Starts the console at sockets that listen.
    ///
    /// # Errors
    /// Those of the system.
    pub fn start(listeners: Vec<TcpListener>, options: ConsoleOptions) -> io::Result<Console> {
        for listener in &listeners {
            edge::prepare(listener)?;
        }
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name("console".to_owned());
        let thread = thread.spawn(move || edge::run(listeners, options, stopped))?;
        Ok(Console {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported.
            let _ = thread.join();
        }
    }
}
