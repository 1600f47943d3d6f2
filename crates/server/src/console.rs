//! The console in the browser: its sockets, and its way to this server.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use fulgurite_client::{Client, ClientError, ConnectOptions, TlsSettings};
use fulgurite_config::{Global, Info, SocketAddress, settings_info};
use fulgurite_console::{AboutServer, Console, ConsoleOptions, SettingText, TlsSource};
use fulgurite_directory::EndPoint;
use fulgurite_ldap::{LdapUrl, Scheme};

use crate::driver::error::ServerError;
use crate::driver::listener::Listener;
use crate::driver::server::Server;
use crate::tls::error::TlsError;
use crate::tls::reload::TlsSlot;

/// The time that the console waits for an answer of the server.
const ANSWER_TIME: Duration = Duration::from_secs(20);

/// The open sockets of a console that has not begun.
pub(crate) struct ConsoleSockets {
    listeners: Vec<TcpListener>,
    options: ConsoleOptions,
}

/// The way of the console to the server.
struct Route {
    url: LdapUrl,
    /// The TLS of the server, for StartTLS.
    tls: Arc<TlsSlot>,
}

impl ConsoleSockets {
    /// Opens the sockets, if the settings ask for a console.
    ///
    /// # Errors
    /// [`ServerError`] if it cannot listen, or would be in clear for other machines.
    pub(crate) fn open(
        global: &Global,
        server: &Server,
    ) -> Result<Option<ConsoleSockets>, ServerError> {
        let Some(address) = &global.console_listen.value else {
            return Ok(None);
        };
        let is_secure = *global.console_tls;
        let scheme = if is_secure { "https" } else { "http" };
        let url = format!("{scheme}://{address}");
        let tls = server.tls();
        if is_secure && tls.get().is_none() {
            return Err(TlsError::NoCertificate(url).into());
        }
        let addresses = resolved(address).map_err(|source| ServerError::Resolve {
            url: url.clone(),
            source,
        })?;
        let is_public = |address: &SocketAddr| !address.ip().to_canonical().is_loopback();
        if !is_secure && addresses.iter().any(is_public) {
            return Err(ServerError::ConsoleInClear { url });
        }
        let listeners = listen(&addresses).map_err(|source| match source.kind() {
            io::ErrorKind::AddrInUse => ServerError::AddressInUse { url: url.clone() },
            io::ErrorKind::PermissionDenied => ServerError::NotPermitted { url: url.clone() },
            _ => ServerError::Listen {
                url: url.clone(),
                source,
            },
        })?;
        let route = Route::to(server.sockets(), Arc::clone(&tls));
        let route = route.ok_or(ServerError::ConsoleWithoutServer { url })?;
        let mut hosts = global.console_hosts.value.clone();
        hosts.push(address.host.clone());
        let source: TlsSource = Arc::new(move || Some(tls.get()?.loaded().server_config()));
        let about = AboutServer {
            settings: settings_info().filter_map(setting_text).collect(),
        };
        let options = ConsoleOptions {
            about,
            dial: Arc::new(move || route.dial()),
            tls: is_secure.then_some(source),
            hosts,
        };
        Ok(Some(ConsoleSockets { listeners, options }))
    }

    /// Starts the console, and returns it with its addresses.
    ///
    /// # Errors
    /// [`ServerError::System`].
    pub(crate) fn start(self) -> Result<(Console, Vec<SocketAddr>), ServerError> {
        let addresses = self.listeners.iter().map(TcpListener::local_addr);
        let addresses = addresses.collect::<io::Result<_>>();
        let addresses = addresses.map_err(ServerError::system("read the console's address"))?;
        let console = Console::start(self.listeners, self.options);
        let console = console.map_err(ServerError::system("start the console"))?;
        Ok((console, addresses))
    }
}

/// Returns the documentation of a setting that cn=config shows.
fn setting_text(info: &Info) -> Option<SettingText> {
    let directive = info.directive.as_ref().filter(|one| !one.olc.is_empty())?;
    Some(SettingText {
        attribute: directive.olc.to_owned(),
        key: info.key.unwrap_or_default().to_owned(),
        text: info.text(),
    })
}

/// Returns the addresses to listen on. Without a host, one socket takes both families.
fn resolved(address: &SocketAddress) -> io::Result<Vec<SocketAddr>> {
    if address.host.is_empty() {
        return Ok(vec![SocketAddr::new(
            Ipv6Addr::UNSPECIFIED.into(),
            address.port,
        )]);
    }
    let mut addresses: Vec<SocketAddr> = (address.host.as_str(), address.port)
        .to_socket_addrs()?
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    Ok(addresses)
}

/// Opens a socket for each address. A machine without IPv6 still has its IPv4 addresses.
fn listen(addresses: &[SocketAddr]) -> io::Result<Vec<TcpListener>> {
    let mut listeners = Vec::new();
    let mut failed = None;
    for address in addresses {
        let opened = TcpListener::bind(address).or_else(|error| match address.ip() {
            IpAddr::V6(ip) if ip.is_unspecified() && error.kind() != io::ErrorKind::AddrInUse => {
                TcpListener::bind((Ipv4Addr::UNSPECIFIED, address.port()))
            }
            _ => Err(error),
        });
        match opened {
            Ok(listener) => listeners.push(listener),
            Err(error) if address.is_ipv6() && addresses.len() > 1 => failed = Some(error),
            Err(error) => return Err(error),
        }
    }
    match failed {
        Some(error) if listeners.is_empty() => Err(error),
        _ => Ok(listeners),
    }
}

impl Route {
    /// Returns the best way to a server: its UNIX socket, then TCP, then TLS.
    fn to(listeners: &[Listener], tls: Arc<TlsSlot>) -> Option<Route> {
        let usable = listeners.iter().filter(|listener| !listener.proxied);
        let best = usable.min_by_key(|listener| match (&listener.address, listener.tls) {
            (EndPoint::Path(_), _) => 0,
            (_, false) => 1,
            (_, true) => 2,
        })?;
        let url = match &best.address {
            EndPoint::Path(path) => LdapUrl {
                host: Some(path.clone()),
                ..LdapUrl::new(Scheme::Ldapi)
            },
            EndPoint::Ip(address) => LdapUrl {
                host: Some(reachable(address.ip()).to_string()),
                port: Some(address.port()),
                ..LdapUrl::new(if best.tls {
                    Scheme::Ldaps
                } else {
                    Scheme::Ldap
                })
            },
            EndPoint::Unknown => return None,
        };
        Some(Route { url, tls })
    }

    /// Connects. The certificate needs no check: this process itself has the socket.
    fn dial(&self) -> Result<Client, ClientError> {
        let options = ConnectOptions {
            timeout: Some(ANSWER_TIME),
            tls: TlsSettings {
                authorities: None,
                verifies: false,
            },
            start_tls: self.url.scheme == Scheme::Ldap && self.tls.get().is_some(),
        };
        Client::open(&self.url, &options)
    }
}

/// Returns an address that this machine reaches itself by.
fn reachable(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(v4) if v4.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(v6) if v6.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        other => other,
    }
}
