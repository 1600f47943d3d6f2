//! The sockets behind listener URLs.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};

use fulgurite_config::ListenUrl;
use mio::net::TcpListener;
use socket2::{Domain, Protocol, Socket, Type};

use crate::ServerError;

/// Connections the system completes before we accept them.
const BACKLOG: i32 = 1024;

/// Opens the sockets of one URL: one for each address of its host.
pub(crate) fn listen(url: &ListenUrl) -> Result<Vec<TcpListener>, ServerError> {
    let mut listeners = Vec::new();
    for address in addresses(url)? {
        match open(address) {
            Ok(listener) => listeners.push(listener),
            // A machine without IPv6 still has all its IPv4 addresses.
            Err(error) if url.host.is_empty() && address.is_ipv6() && is_unsupported(&error) => {}
            Err(error) => return Err(refused(url, error)),
        }
    }
    Ok(listeners)
}

fn addresses(url: &ListenUrl) -> Result<Vec<SocketAddr>, ServerError> {
    if url.host.is_empty() {
        let all = [
            IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        ];
        return Ok(all.map(|ip| SocketAddr::new(ip, url.port)).to_vec());
    }
    let resolved = (url.host.as_str(), url.port)
        .to_socket_addrs()
        .map_err(|source| ServerError::Resolve {
            url: url.to_string(),
            source,
        })?;
    let mut addresses: Vec<SocketAddr> = resolved.collect();
    addresses.sort_unstable();
    addresses.dedup();
    Ok(addresses)
}

fn refused(url: &ListenUrl, source: io::Error) -> ServerError {
    let url = url.to_string();
    match source.kind() {
        io::ErrorKind::AddrInUse => ServerError::AddressInUse { url },
        io::ErrorKind::PermissionDenied => ServerError::NotPermitted { url },
        _ => ServerError::Listen { url, source },
    }
}

fn is_unsupported(error: &io::Error) -> bool {
    const EAFNOSUPPORT: i32 = rustix::io::Errno::AFNOSUPPORT.raw_os_error();
    const EADDRNOTAVAIL: i32 = rustix::io::Errno::ADDRNOTAVAIL.raw_os_error();
    matches!(error.raw_os_error(), Some(EAFNOSUPPORT | EADDRNOTAVAIL))
}

fn open(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    // Restarting at once must not fail because of connections that linger in TIME_WAIT.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(TcpListener::from_std(socket.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> ListenUrl {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_in_use_is_said_to_be_in_use() {
        let first = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = first.local_addr().unwrap().port();
        let error = listen(&url(&format!("ldap://127.0.0.1:{port}"))).unwrap_err();
        assert!(matches!(error, ServerError::AddressInUse { .. }), "{error}");
    }

    #[test]
    fn an_empty_host_means_every_address() {
        let listeners = listen(&url("ldap://:0")).unwrap();
        let first = listeners[0].local_addr().unwrap();
        assert!(first.ip().is_unspecified() && first.is_ipv4());
    }

    #[test]
    fn a_host_without_address_is_an_error() {
        let error = listen(&url("ldap://no-such-host.invalid:0")).unwrap_err();
        assert!(matches!(error, ServerError::Resolve { .. }), "{error}");
    }
}
