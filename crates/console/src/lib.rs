//! The console in the browser: pages over HTTP about the directory of the same server.
//!
//! ```text
//!   browser --> edge: connections, bounds, TLS          one thread, hyper
//!                 |
//!                routes: host, origin, session, token   threads that may wait
//!                 |
//!                pages: login, own page, users, groups, tree, overview
//!                 |
//!                ldap: one connection a session, bound as its user --> the server
//! ```
//!
//! The console is a client of its server for everything. So it can do nothing that LDAP would
//! refuse, and it keeps no password. All pages work without a script.

#![forbid(unsafe_code)]

mod about;
mod accounts;
mod app;
mod edge;
mod guard;
mod history;
mod ldap;
mod monitor;
mod one_connection;
mod options;
mod pages;
mod places;
mod request;
mod routes;
mod schema;
mod secrets;
mod sessions;
mod throttle;

use std::io;
use std::net::TcpListener;
use std::thread::{self, JoinHandle};

use tokio::sync::oneshot;

pub use about::{AboutServer, SettingText};
pub use one_connection::answer_bytes;
pub use options::{ConsoleOptions, Dial, TlsSource};

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
