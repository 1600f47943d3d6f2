//! The sockets that clients connect to.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener as StdUnixListener, UnixStream as StdUnixStream};
use std::path::{Path, PathBuf};

use mio::event::Source;
use mio::net::{TcpListener, UnixListener};
use socket2::{Domain, Protocol, Socket as RawSocket, Type};

use super::socket::Socket;
use crate::error::ServeError;
use crate::options::Address;

/// Connections that the system completes before the server takes them.
const BACKLOG: i32 = 1024;

/// A listening socket.
#[derive(Debug)]
pub(super) enum Listener {
    Tcp(TcpListener, SocketAddr),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    /// Opens the sockets of a place: one for each address of its host.
    pub(super) fn open(address: &Address, socket_mode: u32) -> Result<Vec<Listener>, ServeError> {
        let refused = |source| ServeError::Listen {
            address: address.to_string(),
            source,
        };
        match address {
            Address::Unix(path) => {
                let socket = open_unix(path, socket_mode).map_err(refused)?;
                Ok(vec![Listener::Unix(socket, path.clone())])
            }
            Address::Tcp(host, port) => {
                let resolved = (host.as_str(), *port).to_socket_addrs().map_err(refused)?;
                let mut addresses: Vec<SocketAddr> = resolved.collect();
                addresses.sort_unstable();
                addresses.dedup();
                let opened = addresses.into_iter().map(open_tcp);
                opened.collect::<io::Result<_>>().map_err(refused)
            }
        }
    }

    /// Accepts a connection.
    pub(super) fn accept(&self) -> io::Result<Socket> {
        match self {
            Listener::Tcp(listener, _) => Ok(Socket::Tcp(listener.accept()?.0)),
            Listener::Unix(listener, _) => Ok(Socket::Unix(listener.accept()?.0)),
        }
    }

    /// Returns the place with the port that it has.
    pub(super) fn address(&self) -> Address {
        match self {
            Listener::Tcp(_, address) => Address::Tcp(address.ip().to_string(), address.port()),
            Listener::Unix(_, path) => Address::Unix(path.clone()),
        }
    }

    pub(super) fn source(&mut self) -> &mut dyn Source {
        match self {
            Listener::Tcp(listener, _) => listener,
            Listener::Unix(listener, _) => listener,
        }
    }
}

impl Drop for Listener {
    /// Removes the file of a Unix socket, so that no client waits at it.
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn open_tcp(address: SocketAddr) -> io::Result<Listener> {
    let domain = Domain::for_address(address);
    let socket = RawSocket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    // A quick restart must not fail because of connections in TIME_WAIT.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    let listener = TcpListener::from_std(socket.into());
    let address = listener.local_addr()?;
    Ok(Listener::Tcp(listener, address))
}

/// Makes a Unix socket. Removes the file of an ended server, but not that of a listening one.
fn open_unix(path: &Path, mode: u32) -> io::Result<UnixListener> {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_socket());
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
    Ok(UnixListener::from_std(listener))
}
