//! TCP and Unix sockets behind one type.

use std::io::{self, Read, Write};
use std::net::Shutdown;

use mio::event::Source;
use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};

/// A connected socket.
#[derive(Debug)]
pub enum Socket {
    /// A socket of TCP.
    Tcp(TcpStream),
    /// A Unix socket.
    Unix(UnixStream),
}

/// The user of the process at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credentials {
    /// Its user id.
    pub uid: u32,
    /// Its group id.
    pub gid: u32,
}

impl Socket {
    /// Switches Nagle's algorithm off: responses leave as whole batches, so waiting for more only
    /// delays them.
    pub fn send_at_once(&self) {
        if let Socket::Tcp(stream) = self {
            let _ = stream.set_nodelay(true);
        }
    }

    /// Tells the peer that no more comes.
    ///
    /// # Errors
    /// Those of the system.
    pub fn shutdown_write(&self) -> io::Result<()> {
        match self {
            Socket::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Socket::Unix(stream) => stream.shutdown(Shutdown::Write),
        }
    }

    /// Returns the credentials of the peer, if the system knows them.
    #[must_use]
    pub fn peer_credentials(&self) -> Option<Credentials> {
        let Socket::Unix(stream) = self else {
            return None;
        };
        let credentials = rustix::net::sockopt::socket_peercred(stream).ok()?;
        Some(Credentials {
            uid: credentials.uid.as_raw(),
            gid: credentials.gid.as_raw(),
        })
    }

    fn source(&mut self) -> &mut dyn Source {
        match self {
            Socket::Tcp(stream) => stream,
            Socket::Unix(stream) => stream,
        }
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.read(buffer),
            Socket::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.write(buffer),
            Socket::Unix(stream) => stream.write(buffer),
        }
    }

    fn write_vectored(&mut self, buffers: &[io::IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.write_vectored(buffers),
            Socket::Unix(stream) => stream.write_vectored(buffers),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Source for Socket {
    fn register(&mut self, registry: &Registry, token: Token, wants: Interest) -> io::Result<()> {
        self.source().register(registry, token, wants)
    }

    fn reregister(&mut self, registry: &Registry, token: Token, wants: Interest) -> io::Result<()> {
        self.source().reregister(registry, token, wants)
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        self.source().deregister(registry)
    }
}
