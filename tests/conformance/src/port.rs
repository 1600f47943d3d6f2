//! A port that stays ours while servers at it end and begin.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with};

/// A port of 127.0.0.1 for a server that a test starts, perhaps several times.
///
/// A socket is bound to it that never listens. So the system gives the port to nobody who asks for
/// any port, and to no outgoing connection. A server that names the port still gets it: like this
/// socket, servers set `SO_REUSEADDR`.
#[derive(Debug)]
pub struct HeldPort {
    number: u16,
    _socket: OwnedFd,
}

impl HeldPort {
    /// Takes a free port, until the value is dropped.
    ///
    /// # Panics
    /// If no port is free.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "each value is another port")]
    pub fn new() -> HeldPort {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None);
        let socket = socket.expect("make a socket");
        rustix::net::sockopt::set_socket_reuseaddr(&socket, true).expect("share the port");
        bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = getsockname(&socket).expect("the port's number");
        let address = SocketAddr::try_from(address).expect("an address with a port");
        HeldPort {
            number: address.port(),
            _socket: socket,
        }
    }

    /// Returns the port's number.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.number
    }

    /// Returns the address of a server at this port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.number))
    }
}

/// Writes the number.
impl fmt::Display for HeldPort {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn servers_come_back_to_a_held_port_and_others_do_not_get_it() {
        let port = HeldPort::new();
        for _ in 0..3 {
            // The standard library sets SO_REUSEADDR, as servers do.
            let server = TcpListener::bind(port.address()).expect("the server's port");
            let client = TcpStream::connect(port.address()).expect("connect");
            drop(server.accept().expect("accept"));
            drop(client);
        }
        let flags = SocketFlags::CLOEXEC;
        let other = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None);
        let other = other.expect("make a socket");
        let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port.number());
        let refused = bind(&other, &address).expect_err("the port is held");
        assert_eq!(std::io::Error::from(refused).kind(), ErrorKind::AddrInUse);
    }

    #[test]
    fn a_port_that_is_only_held_refuses_connections() {
        let port = HeldPort::new();
        let refused = TcpStream::connect(port.address()).expect_err("nobody listens");
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    }
}
