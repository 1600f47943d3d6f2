//! A connection to a server: a local socket or TCP, bound.

use std::io::{Read, Write};
use std::net::{IpAddr, TcpStream, ToSocketAddrs as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use fulgurite_client::Entry;
use fulgurite_config::LDAPI_PATH;
use fulgurite_ldap::{
    Authentication, BindRequest, FilterBuf, LdapResult, LdapUrl, Request, Response,
    ResponseMessage, Scheme, Scope, SearchRequest, encode, frame,
};

use crate::arguments::status::ServerAddress;

/// The socket of an installed server.
const SOCKET: &str = "/run/fulgurite/ldapi";

/// The longest time that a server may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of a response at most.
const RESPONSE_BYTES_MAX: usize = 16 << 20;

trait Stream: Read + Write {}

impl<S: Read + Write> Stream for S {}

/// The way to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A local socket.
    Socket,
    /// TCP within this machine.
    Machine,
    /// TCP to another machine, where others may read along.
    Network,
}

/// A connection to a server.
pub(crate) struct Link {
    url: String,
    stream: Box<dyn Stream>,
    received: Vec<u8>,
    next_id: u32,
}

impl Link {
    /// Connects and binds as the flags say.
    pub(crate) fn open(server: &ServerAddress) -> anyhow::Result<Link> {
        let urls = match &server.url {
            Some(url) => vec![url.clone()],
            None => candidates(),
        };
        let mut failed = anyhow!("there is no server to ask");
        for url in urls {
            match Link::connect(&url) {
                Ok((mut link, way)) => {
                    link.bind(server, way)?;
                    return Ok(link);
                }
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// Connects.
    fn connect(url: &str) -> anyhow::Result<(Link, Way)> {
        let parsed = LdapUrl::parse(url).with_context(|| format!("URL {url}"))?;
        let unreachable = || format!("cannot reach {url}");
        let (stream, way): (Box<dyn Stream>, Way) = match parsed.scheme {
            Scheme::Ldapi => {
                let path = parsed.host.map_or(PathBuf::from(LDAPI_PATH), PathBuf::from);
                let stream = UnixStream::connect(path).with_context(unreachable)?;
                stream.set_read_timeout(Some(TIMEOUT))?;
                stream.set_write_timeout(Some(TIMEOUT))?;
                (Box::new(stream), Way::Socket)
            }
            Scheme::Ldap => {
                let host = parsed.host.unwrap_or_else(|| "localhost".to_owned());
                let port = parsed.port.unwrap_or(389);
                let stream = connect_tcp(&host, port).with_context(unreachable)?;
                stream.set_read_timeout(Some(TIMEOUT))?;
                stream.set_write_timeout(Some(TIMEOUT))?;
                let way = way_of(stream.peer_addr()?.ip(), stream.local_addr()?.ip());
                (Box::new(stream), way)
            }
            _ => bail!("{url}: only ldapi:// and ldap:// URLs can be used"),
        };
        let link = Link {
            url: url.to_owned(),
            stream,
            received: Vec::new(),
            next_id: 1,
        };
        Ok((link, way))
    }

    fn bind(&mut self, server: &ServerAddress, way: Way) -> anyhow::Result<()> {
        if way == Way::Network && server.subject.is_some() {
            let url = &self.url;
            bail!(
                "{url}: the password would cross the network in clear; run this at the server's \
                 own machine, by ldapi:// or ldap://localhost"
            );
        }
        let password = server.password_file.as_deref().map(read_password);
        let password = password.transpose()?.unwrap_or_default();
        let request = match &server.subject {
            Some(name) => BindRequest::simple(name, password.as_bytes()),
            None if way == Way::Socket => BindRequest {
                version: 3,
                name: b"",
                authentication: Authentication::Sasl {
                    mechanism: b"EXTERNAL",
                    credentials: Some(b""),
                },
            },
            None => return Ok(()),
        };
        let (_, result) = self.ask(&Request::Bind(request))?;
        if !result.is_success() {
            let url = &self.url;
            bail!("{url}: the bind is refused: {}", result.code.name());
        }
        Ok(())
    }

    /// Returns the URL of the server.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Searches with a filter. Returns the entries, and the result if it is no success.
    pub(crate) fn search(
        &mut self,
        base: &str,
        scope: Scope,
        filter: &str,
    ) -> anyhow::Result<(Vec<Entry>, Option<LdapResult>)> {
        let filter = FilterBuf::parse(filter).context("a filter")?;
        let request = SearchRequest {
            // A server shows its vendor to those who ask for it.
            attributes: vec![b"*", b"+", b"vendorName", b"vendorVersion"],
            ..SearchRequest::new(base, scope, filter.filter())
        };
        let (entries, result) = self.ask(&Request::Search(request))?;
        Ok((entries, Some(result).filter(|result| !result.is_success())))
    }

    /// Sends a request. Returns its result, and the entries before that.
    pub(crate) fn ask(
        &mut self,
        request: &Request<'_>,
    ) -> anyhow::Result<(Vec<Entry>, LdapResult)> {
        let url = self.url.clone();
        let lost = || format!("{url}: the connection is lost");
        let mut bytes = Vec::new();
        encode::request(&mut bytes, self.next_id, request, &[]);
        self.next_id += 1;
        self.stream.write_all(&bytes).with_context(lost)?;
        let mut entries = Vec::new();
        loop {
            let len = self.receive().with_context(lost)?;
            let pdu = self.received.get(..len).unwrap_or_default();
            let message = ResponseMessage::decode(pdu).with_context(lost)?;
            let result = message.response.result().cloned();
            if let Response::SearchEntry(entry) = &message.response {
                entries.push(Entry::from(entry));
            }
            let is_notice = message.id == 0;
            self.received.drain(..len);
            match result {
                Some(result) if is_notice => {
                    bail!(
                        "{url}: the server ends the connection: {}",
                        result.code.name()
                    );
                }
                Some(result) => return Ok((entries, result)),
                None => {}
            }
        }
    }

    /// Waits for a whole message. Returns its length.
    fn receive(&mut self) -> anyhow::Result<usize> {
        let mut piece = [0; 16 << 10];
        loop {
            if let Some(len) = frame(&self.received, RESPONSE_BYTES_MAX)? {
                return Ok(len);
            }
            let count = self.stream.read(&mut piece)?;
            if count == 0 {
                bail!("the server has closed it");
            }
            self.received
                .extend_from_slice(piece.get(..count).unwrap_or_default());
        }
    }
}

/// Returns the servers to try: sockets of this machine that exist, then its port.
fn candidates() -> Vec<String> {
    let sockets = [SOCKET, LDAPI_PATH].into_iter();
    let sockets = sockets.filter(|path| Path::new(path).exists());
    let urls = sockets.map(|path| format!("ldapi://{}", path.replace('/', "%2F")));
    urls.chain(["ldap://localhost".to_owned()]).collect()
}

/// Returns the way of a TCP connection. Both ends have one address if they are of one machine.
fn way_of(peer: IpAddr, own: IpAddr) -> Way {
    match peer.to_canonical().is_loopback() || peer == own {
        true => Way::Machine,
        false => Way::Network,
    }
}

fn connect_tcp(host: &str, port: u16) -> std::io::Result<TcpStream> {
    let mut last = std::io::Error::from(std::io::ErrorKind::AddrNotAvailable);
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn read_password(file: &Path) -> anyhow::Result<String> {
    let password = std::fs::read_to_string(file);
    let password = password.with_context(|| format!("cannot read {}", file.display()))?;
    let password = password.trim_end_matches('\n').to_owned();
    if password.is_empty() {
        bail!(
            "{}: the password is empty, which is no bind",
            file.display()
        );
    }
    Ok(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_within_the_machine_is_known_by_its_ends() {
        let way = |peer: &str, own: &str| way_of(peer.parse().unwrap(), own.parse().unwrap());
        assert_eq!(way("127.0.0.1", "127.0.0.1"), Way::Machine);
        assert_eq!(way("::ffff:127.0.0.2", "::ffff:127.0.0.1"), Way::Machine);
        assert_eq!(way("::1", "::1"), Way::Machine);
        assert_eq!(way("192.0.2.7", "192.0.2.7"), Way::Machine);
        assert_eq!(way("192.0.2.7", "192.0.2.8"), Way::Network);
    }

    #[test]
    fn a_password_goes_over_no_network() {
        let (stream, mut peer) = UnixStream::pair().unwrap();
        let mut link = Link {
            url: "ldap://other".to_owned(),
            stream: Box::new(stream),
            received: Vec::new(),
            next_id: 1,
        };
        let server = ServerAddress {
            subject: Some("cn=admin".to_owned()),
            ..ServerAddress::default()
        };
        let refused = link.bind(&server, Way::Network).unwrap_err().to_string();
        assert!(
            refused.starts_with("ldap://other: the password"),
            "{refused}"
        );
        drop(link);
        assert_eq!(peer.read(&mut [0]).unwrap(), 0);
    }
}
