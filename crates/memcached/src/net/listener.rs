//! The sockets that clients connect to.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};

use fulgurite_net::{BufferSizes, ListeningSocket};

use crate::error::ServeError;
use crate::options::Address;

/// Opens the sockets of a place: one for each address of its host.
pub(super) fn open(
    address: &Address,
    socket_mode: u32,
) -> Result<Vec<ListeningSocket>, ServeError> {
    let refused = |source| ServeError::Listen {
        address: address.to_string(),
        source,
    };
    match address {
        Address::Unix(path) => {
            let socket = ListeningSocket::open_unix(path, socket_mode).map_err(refused)?;
            Ok(vec![socket])
        }
        Address::Tcp(host, port) => {
            let resolved = (host.as_str(), *port).to_socket_addrs().map_err(refused)?;
            let mut addresses: Vec<SocketAddr> = resolved.collect();
            addresses.sort_unstable();
            addresses.dedup();
            let addresses = addresses.into_iter();
            let opened =
                addresses.map(|address| ListeningSocket::open_tcp(address, BufferSizes::default()));
            opened.collect::<io::Result<_>>().map_err(refused)
        }
    }
}

/// Returns the place of a socket, with the port that it has.
pub(super) fn address_of(socket: &ListeningSocket) -> Address {
    match socket {
        ListeningSocket::Tcp(_, address) => Address::Tcp(address.ip().to_string(), address.port()),
        ListeningSocket::Unix(_, path) => Address::Unix(path.clone()),
    }
}
