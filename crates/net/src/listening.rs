//! Listening sockets.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener as StdUnixListener, UnixStream as StdUnixStream};
use std::path::{Path, PathBuf};

use mio::event::Source;
use mio::net::{TcpListener, UnixListener};
use mio::{Interest, Registry, Token};
use socket2::{Domain, Protocol, Socket as RawSocket, Type};

use crate::Socket;

/// Connections that the system completes before the server takes them.
const BACKLOG: i32 = 1024;

/// The sizes of a connection's buffers in bytes; `None` leaves them to the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BufferSizes {
    /// The size of the buffer for bytes from the peer.
    pub receive: Option<u32>,
    /// The size of the buffer for bytes to the peer.
    pub send: Option<u32>,
}

/// A listening socket.
#[derive(Debug)]
pub enum ListeningSocket {
    /// A socket of TCP, and its address.
    Tcp(TcpListener, SocketAddr),
    /// A Unix socket, and its file.
    Unix(UnixListener, PathBuf),
}

impl ListeningSocket {
    /// Opens a socket of TCP. Its connections have keepalive, so a peer that is gone is noticed.
    ///
    /// # Errors
    /// Those of the system.
    pub fn open_tcp(address: SocketAddr, buffers: BufferSizes) -> io::Result<ListeningSocket> {
        let domain = Domain::for_address(address);
        let socket = RawSocket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
        // A quick restart must not fail because of connections in TIME_WAIT.
        socket.set_reuse_address(true)?;
        if address.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        // Accepted connections inherit these. The window is agreed on before a connection exists.
        socket.set_keepalive(true)?;
        if let Some(bytes) = buffers.receive {
            socket.set_recv_buffer_size(bytes as usize)?;
        }
        if let Some(bytes) = buffers.send {
            socket.set_send_buffer_size(bytes as usize)?;
        }
        socket.set_nonblocking(true)?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        let listener = TcpListener::from_std(socket.into());
        let address = listener.local_addr()?;
        Ok(ListeningSocket::Tcp(listener, address))
    }

    /// Makes a Unix socket. Removes the file of an ended server, but not that of a listening one.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::AddrInUse`] if another server listens.
    pub fn open_unix(path: &Path, mode: u32) -> io::Result<ListeningSocket> {
        let is_socket =
            std::fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_socket());
        if is_socket {
            match StdUnixStream::connect(path) {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    std::fs::remove_file(path)?;
                }
                Ok(_) => return Err(io::ErrorKind::AddrInUse.into()),
                Err(_) => {}
            }
        }
        let listener = StdUnixListener::bind(path)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?;
        listener.set_nonblocking(true)?;
        let listener = UnixListener::from_std(listener);
        Ok(ListeningSocket::Unix(listener, path.to_owned()))
    }

    /// Accepts a connection. Returns the peer's address too, if it has one.
    ///
    /// # Errors
    /// Those of the system.
    pub fn accept(&self) -> io::Result<(Socket, Option<SocketAddr>)> {
        match self {
            ListeningSocket::Tcp(listener, _) => {
                let (stream, peer) = listener.accept()?;
                Ok((Socket::Tcp(stream), Some(peer)))
            }
            ListeningSocket::Unix(listener, _) => Ok((Socket::Unix(listener.accept()?.0), None)),
        }
    }

    fn source(&mut self) -> &mut dyn Source {
        match self {
            ListeningSocket::Tcp(listener, _) => listener,
            ListeningSocket::Unix(listener, _) => listener,
        }
    }
}

impl Source for ListeningSocket {
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

impl Drop for ListeningSocket {
    /// Removes the file of a Unix socket, so that no client waits at it.
    fn drop(&mut self) {
        if let ListeningSocket::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accepts one connection of a client.
    fn accepted(buffers: BufferSizes) -> Socket {
        let any = "127.0.0.1:0".parse().unwrap();
        let listening = ListeningSocket::open_tcp(any, buffers).unwrap();
        let ListeningSocket::Tcp(_, address) = &listening else {
            panic!("{listening:?}");
        };
        let client = std::net::TcpStream::connect(address).unwrap();
        let (socket, peer) = listening.accept().unwrap();
        assert_eq!(peer, Some(client.local_addr().unwrap()));
        socket
    }

    #[test]
    fn connections_have_keepalive_and_the_sizes_that_are_set() {
        let facts = |socket: Socket| {
            let Socket::Tcp(stream) = socket else {
                panic!("no TCP connection");
            };
            let socket = socket2::SockRef::from(&stream);
            assert!(socket.keepalive().unwrap());
            socket.recv_buffer_size().unwrap()
        };
        facts(accepted(BufferSizes::default()));
        let size = facts(accepted(BufferSizes {
            receive: Some(20_000),
            send: None,
        }));
        // Linux doubles a size for its needs; other systems take it as it is.
        assert!([20_000, 40_000].contains(&size), "{size}");
    }

    #[test]
    fn stale_unix_sockets_are_replaced_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        drop(StdUnixListener::bind(&path).unwrap());
        assert!(path.exists(), "a socket is left behind");
        let first = ListeningSocket::open_unix(&path, 0o700).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let error = ListeningSocket::open_unix(&path, 0o700).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        drop(first);
        assert!(!path.exists());
        std::fs::write(&path, "a file").unwrap();
        assert!(ListeningSocket::open_unix(&path, 0o700).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a file");
    }
}
