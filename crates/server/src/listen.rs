//! Listener URLs and the sockets behind them.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::str::FromStr;

use mio::net::TcpListener;
use socket2::{Domain, Protocol, Socket, Type};

use crate::ServerError;

/// The port of `ldap://` (RFC 4511 section 5.2.1).
const PORT_DEFAULT: u16 = 389;

/// Connections the system completes before we accept them.
const BACKLOG: i32 = 1024;

/// Where to listen: `ldap://host:port`, `ldap://[::1]`, or `ldap://` for all addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenUrl {
    url: String,
    /// Empty for all addresses.
    host: String,
    port: u16,
}

impl FromStr for ListenUrl {
    type Err = ServerError;

    fn from_str(url: &str) -> Result<Self, ServerError> {
        let wrong = |reason| ServerError::ListenUrl {
            url: url.to_owned(),
            reason,
        };
        let (scheme, rest) = url
            .split_once("://")
            .ok_or_else(|| wrong("expected a URL such as ldap://127.0.0.1:389"))?;
        match scheme.to_ascii_lowercase().as_str() {
            "ldap" => {}
            "ldaps" | "ldapi" => return Err(wrong("only ldap:// is supported so far")),
            _ => return Err(wrong("only ldap:// is supported")),
        }
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        if authority.contains(['/', '?', '#', '@']) {
            return Err(wrong("nothing may follow the host and port"));
        }
        let (host, port) = split_authority(authority).map_err(wrong)?;
        Ok(ListenUrl {
            url: url.to_owned(),
            host: host.to_owned(),
            port,
        })
    }
}

fn split_authority(authority: &str) -> Result<(&str, u16), &'static str> {
    let (host, rest) = if let Some(bracketed) = authority.strip_prefix('[') {
        bracketed
            .split_once(']')
            .ok_or("the IPv6 address has no closing bracket")?
    } else {
        let end = authority.find(':').unwrap_or(authority.len());
        authority.split_at(end)
    };
    let port = match rest.strip_prefix(':') {
        Some("") => PORT_DEFAULT,
        Some(port) if port.contains(':') => {
            return Err("an IPv6 address has to stand in brackets");
        }
        Some(port) => port.parse().map_err(|_| "the port is not a number below 65536")?,
        None if rest.is_empty() => PORT_DEFAULT,
        None => return Err("expected a port after the address"),
    };
    Ok((host, port))
}

impl ListenUrl {
    /// Opens the sockets: one for each address of the host.
    pub(crate) fn listen(&self) -> Result<Vec<TcpListener>, ServerError> {
        let mut listeners = Vec::new();
        for address in self.addresses()? {
            match open(address) {
                Ok(listener) => listeners.push(listener),
                // A machine without IPv6 still has all its IPv4 addresses.
                Err(error) if self.is_wildcard() && address.is_ipv6() && is_unsupported(&error) => {}
                Err(error) => return Err(self.listen_error(error)),
            }
        }
        Ok(listeners)
    }

    fn is_wildcard(&self) -> bool {
        self.host.is_empty() || self.host == "*"
    }

    fn addresses(&self) -> Result<Vec<SocketAddr>, ServerError> {
        if self.is_wildcard() {
            let all = [
                IpAddr::V4(Ipv4Addr::UNSPECIFIED),
                IpAddr::V6(Ipv6Addr::UNSPECIFIED),
            ];
            return Ok(all.map(|ip| SocketAddr::new(ip, self.port)).to_vec());
        }
        let resolved = (self.host.as_str(), self.port)
            .to_socket_addrs()
            .map_err(|source| ServerError::Resolve {
                url: self.url.clone(),
                source,
            })?;
        let mut addresses: Vec<SocketAddr> = resolved.collect();
        addresses.sort_unstable();
        addresses.dedup();
        Ok(addresses)
    }

    fn listen_error(&self, source: io::Error) -> ServerError {
        let url = self.url.clone();
        if source.kind() == io::ErrorKind::AddrInUse {
            ServerError::AddressInUse { url }
        } else {
            ServerError::Listen { url, source }
        }
    }
}

fn is_unsupported(error: &io::Error) -> bool {
    const EAFNOSUPPORT: i32 = rustix::io::Errno::AFNOSUPPORT.raw_os_error();
    const EADDRNOTAVAIL: i32 = rustix::io::Errno::ADDRNOTAVAIL.raw_os_error();
    matches!(error.raw_os_error(), Some(EAFNOSUPPORT | EADDRNOTAVAIL))
}

fn open(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
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

    fn parsed(url: &str) -> (String, u16) {
        let parsed: ListenUrl = url.parse().unwrap();
        (parsed.host, parsed.port)
    }

    #[test]
    fn urls_name_host_and_port() {
        assert_eq!(parsed("ldap://127.0.0.1:3890"), ("127.0.0.1".into(), 3890));
        assert_eq!(parsed("ldap://127.0.0.1:3890/"), ("127.0.0.1".into(), 3890));
        assert_eq!(parsed("LDAP://localhost"), ("localhost".into(), 389));
        assert_eq!(parsed("ldap://[::1]:3890"), ("::1".into(), 3890));
        assert_eq!(parsed("ldap://[::1]"), ("::1".into(), 389));
        assert_eq!(parsed("ldap:///"), (String::new(), 389));
        assert_eq!(parsed("ldap://:3890"), (String::new(), 3890));
    }

    #[test]
    fn other_urls_are_refused_with_a_sentence() {
        let refused = |url: &str| url.parse::<ListenUrl>().unwrap_err().to_string();
        for (url, reason) in [
            ("127.0.0.1:389", "expected a URL such as ldap://127.0.0.1:389"),
            ("ldaps://127.0.0.1", "only ldap:// is supported so far"),
            ("http://127.0.0.1", "only ldap:// is supported"),
            ("ldap://h:70000", "the port is not a number below 65536"),
            ("ldap://h:x", "the port is not a number below 65536"),
            ("ldap://::1:389", "an IPv6 address has to stand in brackets"),
            ("ldap://[::1", "the IPv6 address has no closing bracket"),
            ("ldap://h:1/dc=x", "nothing may follow the host and port"),
        ] {
            assert_eq!(refused(url), format!("cannot listen on {url:?}: {reason}"));
        }
    }

    #[test]
    fn an_address_in_use_is_said_to_be_in_use() {
        let first = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = first.local_addr().unwrap().port();
        let url: ListenUrl = format!("ldap://127.0.0.1:{port}").parse().unwrap();
        let error = url.listen().unwrap_err();
        assert!(matches!(error, ServerError::AddressInUse { .. }), "{error}");
    }
}
