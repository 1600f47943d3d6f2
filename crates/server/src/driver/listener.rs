//! The sockets behind listener URLs.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};

use fulgurite_config::{ListenScheme, ListenUrl, TcpBufferSizes};
use fulgurite_directory::EndPoint;
use fulgurite_net::{BufferSizes, ListeningSocket, Socket};
use mio::event::Source;
use mio::{Interest, Registry, Token};

use super::error::ServerError;
use super::settings::AddressFamilies;

/// The default mode of a UNIX socket: as with slapd, everyone may connect.
const SOCKET_MODE: u32 = 0o777;

/// A listening socket.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: ListeningSocket,
    /// The URL as written in the settings.
    pub(crate) url: String,
    /// True if TLS begins with the first byte.
    pub(crate) tls: bool,
    /// True if a header of the PROXY protocol begins each connection.
    pub(crate) proxied: bool,
    /// The server's end of its connections, if all have the same.
    pub(crate) address: EndPoint,
}

impl Listener {
    /// Accepts a connection. Returns its socket, the client's address and the server's address.
    pub(crate) fn accept(&self) -> io::Result<(Socket, EndPoint, EndPoint)> {
        let (socket, peer) = self.socket.accept()?;
        let (peer, own) = match (&socket, peer) {
            (Socket::Tcp(stream), Some(peer)) => {
                let own = stream.local_addr().map_or(EndPoint::Unknown, EndPoint::Ip);
                (EndPoint::Ip(peer), own)
            }
            _ => (self.address.clone(), self.address.clone()),
        };
        Ok((socket, peer, own))
    }
}

impl Source for Listener {
    fn register(&mut self, registry: &Registry, token: Token, wants: Interest) -> io::Result<()> {
        self.socket.register(registry, token, wants)
    }

    fn reregister(&mut self, registry: &Registry, token: Token, wants: Interest) -> io::Result<()> {
        self.socket.reregister(registry, token, wants)
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        self.socket.deregister(registry)
    }
}

/// Opens the sockets of one URL: one for each address of its host.
pub(crate) fn listen(
    url: &ListenUrl,
    families: AddressFamilies,
    buffers: TcpBufferSizes,
) -> Result<Vec<Listener>, ServerError> {
    if url.scheme == ListenScheme::Ldapi {
        let socket = ListeningSocket::open_unix(&url.path, url.mode.unwrap_or(SOCKET_MODE));
        let socket = socket.map_err(|error| refused(url, error))?;
        let address = EndPoint::Path(url.path.display().to_string());
        return Ok(vec![listener(url, socket, address)]);
    }
    let mut listeners = Vec::new();
    let mut addresses = addresses(url)?;
    addresses.retain(|address| families.admit(address));
    if addresses.is_empty() {
        return Err(ServerError::NoSuchFamily {
            url: url.to_string(),
        });
    }
    let buffers = BufferSizes {
        receive: buffers.read,
        send: buffers.write,
    };
    for address in addresses {
        match ListeningSocket::open_tcp(address, buffers) {
            Ok(socket) => {
                let address = match &socket {
                    ListeningSocket::Tcp(_, address) => *address,
                    ListeningSocket::Unix(..) => address,
                };
                listeners.push(listener(url, socket, EndPoint::Ip(address)));
            }
            // A machine without IPv6 still has all its IPv4 addresses.
            Err(error) if url.host.is_empty() && address.is_ipv6() && is_unsupported(&error) => {}
            Err(error) => return Err(refused(url, error)),
        }
    }
    Ok(listeners)
}

fn listener(url: &ListenUrl, socket: ListeningSocket, address: EndPoint) -> Listener {
    Listener {
        socket,
        url: url.text.clone(),
        tls: url.scheme == ListenScheme::Ldaps,
        proxied: url.proxied,
        address,
    }
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::net::UnixListener as StdUnixListener;
    use std::path::Path;

    use super::*;

    fn listen(url: &ListenUrl) -> Result<Vec<Listener>, ServerError> {
        super::listen(url, AddressFamilies::Any, TcpBufferSizes::default())
    }

    fn url(text: &str) -> ListenUrl {
        text.parse().unwrap()
    }

    #[test]
    fn buffers_have_the_sizes_that_are_set() {
        let sizes = |socket: socket2::SockRef<'_>| {
            (
                socket.recv_buffer_size().unwrap(),
                socket.send_buffer_size().unwrap(),
            )
        };
        let of = |read, write| {
            let buffers = TcpBufferSizes { read, write };
            let url = url("ldap://127.0.0.1:0");
            let listeners = super::listen(&url, AddressFamilies::Any, buffers).unwrap();
            let EndPoint::Ip(address) = listeners[0].address else {
                panic!("no address");
            };
            let _client = std::net::TcpStream::connect(address).unwrap();
            match listeners[0].accept().unwrap().0 {
                Socket::Tcp(stream) => sizes((&stream).into()),
                Socket::Unix(_) => panic!("no TCP connection"),
            }
        };
        let (_, write) = of(None, None);
        // Linux doubles a size for its own needs; other systems take it as it is.
        let (set_read, unset_write) = of(Some(20_000), None);
        assert!([20_000, 40_000].contains(&set_read), "{set_read}");
        assert_eq!(unset_write, write);
        let (_, set_write) = of(None, Some(30_000));
        assert!([30_000, 60_000].contains(&set_write), "{set_write}");
    }

    #[test]
    fn an_address_in_use_is_reported_as_such() {
        let first = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = first.local_addr().unwrap().port();
        let error = listen(&url(&format!("ldap://127.0.0.1:{port}"))).unwrap_err();
        assert!(matches!(error, ServerError::AddressInUse { .. }), "{error}");
    }

    #[test]
    fn an_empty_host_means_every_address() {
        let listeners = listen(&url("ldap://:0")).unwrap();
        let EndPoint::Ip(first) = listeners[0].address else {
            panic!("{listeners:?}")
        };
        assert!(first.ip().is_unspecified() && first.is_ipv4());
    }

    #[test]
    fn only_addresses_of_the_requested_family_are_opened() {
        let open = super::listen(
            &url("ldap://:0"),
            AddressFamilies::V4,
            TcpBufferSizes::default(),
        )
        .unwrap();
        let is_v4 = |l: &Listener| matches!(l.address, EndPoint::Ip(ip) if ip.is_ipv4());
        assert!(!open.is_empty() && open.iter().all(is_v4));
        for (host, families) in [
            ("127.0.0.1", AddressFamilies::V6),
            ("[::1]", AddressFamilies::V4),
        ] {
            let error = super::listen(
                &url(&format!("ldap://{host}:0")),
                families,
                TcpBufferSizes::default(),
            )
            .unwrap_err();
            assert!(matches!(error, ServerError::NoSuchFamily { .. }), "{error}");
        }
    }

    #[test]
    fn a_host_without_address_is_an_error() {
        let error = listen(&url("ldap://no-such-host.invalid:0")).unwrap_err();
        assert!(matches!(error, ServerError::Resolve { .. }), "{error}");
    }

    fn unix_url(path: &Path, extension: &str) -> ListenUrl {
        let path = path.display().to_string().replace('/', "%2F");
        url(&format!("ldapi://{path}/{extension}"))
    }

    fn mode_of(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn unix_sockets_have_their_mode_and_end_with_the_listener() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ldapi");
        let open = listen(&unix_url(&path, "")).unwrap();
        assert_eq!(mode_of(&path), 0o777);
        drop(open);
        assert!(!path.exists());
        let open = listen(&unix_url(&path, "????x-mod=0700")).unwrap();
        assert_eq!(mode_of(&path), 0o700);
        assert_eq!(open[0].address, EndPoint::Path(path.display().to_string()));
    }

    #[test]
    fn stale_sockets_are_replaced_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ldapi");
        drop(StdUnixListener::bind(&path).unwrap());
        assert!(path.exists(), "a socket is left behind");
        let first = listen(&unix_url(&path, "")).unwrap();
        let error = listen(&unix_url(&path, "")).unwrap_err();
        assert!(matches!(error, ServerError::AddressInUse { .. }), "{error}");
        drop(first);
        std::fs::write(&path, "a file of somebody's").unwrap();
        assert!(listen(&unix_url(&path, "")).is_err());
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "a file of somebody's"
        );
    }
}
