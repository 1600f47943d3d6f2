//! TCP and Unix sockets behind one type.

use std::io::{self, Read, Write};

use mio::event::Source;
use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};

/// A connected socket.
#[derive(Debug)]
pub(super) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    /// Switches Nagle's algorithm off: answers leave as whole batches.
    pub(super) fn send_at_once(&self) {
        if let Socket::Tcp(stream) = self {
            let _ = stream.set_nodelay(true);
        }
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
