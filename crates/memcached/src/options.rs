//! The settings of a server.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The port of memcached.
const PORT: u16 = 11211;

/// The answers that survive a power loss. A crash of the process alone loses none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// None for sure: the system writes when it likes. After a power loss the cache may be damaged.
    #[default]
    None,
    /// All but those of the last commit. The cache stays sound.
    Meta,
    /// All.
    Full,
}

impl FromStr for Durability {
    type Err = String;

    fn from_str(text: &str) -> Result<Durability, String> {
        match text {
            "none" => Ok(Durability::None),
            "meta" => Ok(Durability::Meta),
            "full" => Ok(Durability::Full),
            _ => Err("give none, meta or full".to_owned()),
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Durability::None => "none",
            Durability::Meta => "meta",
            Durability::Full => "full",
        })
    }
}

/// The place of a listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A host and a port.
    Tcp(String, u16),
    /// The file of a Unix socket.
    Unix(PathBuf),
}

impl FromStr for Address {
    type Err = String;

    /// Reads `HOST`, `HOST:PORT`, `:PORT`, `unix:PATH` or an absolute path.
    fn from_str(text: &str) -> Result<Address, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            return Ok(Address::Unix(PathBuf::from(path)));
        }
        if text.starts_with('/') {
            return Ok(Address::Unix(PathBuf::from(text)));
        }
        let bare = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (host, rest) = match bare {
            Some((host, rest)) => (host, rest),
            None => match text.rfind(':') {
                // Two colons without brackets are an address of IPv6.
                Some(at) if text.find(':') == Some(at) => text.split_at(at),
                _ => (text, ""),
            },
        };
        let port = match rest.strip_prefix(':') {
            Some(port) => port.parse().map_err(|_| format!("{port} is no port"))?,
            None if rest.is_empty() => PORT,
            None => return Err("give HOST:PORT, or the path of a Unix socket".to_owned()),
        };
        let host = if host.is_empty() { "0.0.0.0" } else { host };
        Ok(Address::Tcp(host.to_owned(), port))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp(host, port) => write!(f, "{host}:{port}"),
            Address::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

/// The files of TLS, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// The certificate and its chain.
    pub certificate: PathBuf,
    /// The key of the certificate.
    pub key: PathBuf,
}

/// The settings of a server.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder of the environment; made if missing.
    pub data: PathBuf,
    /// The places to listen at.
    pub listen: Vec<Address>,
    /// The event loops, each with a thread.
    pub threads: usize,
    /// Bytes of items, above which items leave the cache. 0 is no bound.
    pub bytes_max: u64,
    /// True if a full cache refuses new items instead.
    pub no_eviction: bool,
    /// The longest value in bytes.
    pub value_max: usize,
    /// The answers that survive a power loss.
    pub durability: Durability,
    /// The most connections at once.
    pub connections_max: usize,
    /// Seconds after which a silent connection is closed. 0 is never.
    pub idle_timeout_s: u64,
    /// Seconds after which a connection is closed whose TLS handshake has not ended.
    pub handshake_timeout_s: u64,
    /// TLS for all connections over TCP.
    pub tls: Option<Tls>,
    /// A file with lines `USER:PASSWORD`. The first command of a connection then has to be a `set`
    /// with one of them.
    pub auth_file: Option<PathBuf>,
    /// The mode of Unix sockets.
    pub socket_mode: u32,
    /// The largest size of the data file in bytes; of 0, the engine's.
    pub file_bytes_max: u64,
    /// The version in answers to clients. They expect one of memcached, whose commands it implies.
    pub version: String,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            data: PathBuf::from("."),
            listen: Vec::new(),
            threads: 1,
            bytes_max: 0,
            no_eviction: false,
            value_max: 1 << 20,
            durability: Durability::None,
            connections_max: 1024,
            idle_timeout_s: 0,
            handshake_timeout_s: 30,
            tls: None,
            auth_file: None,
            socket_mode: 0o700,
            file_bytes_max: 0,
            version: concat!("1.6.18-fulgurite-", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let tcp = |host: &str, port| Ok(Address::Tcp(host.to_owned(), port));
        assert_eq!("127.0.0.1:11".parse(), tcp("127.0.0.1", 11));
        assert_eq!("localhost".parse(), tcp("localhost", 11211));
        assert_eq!(":12".parse(), tcp("0.0.0.0", 12));
        assert_eq!("[::1]:12".parse(), tcp("::1", 12));
        assert_eq!("::1".parse(), tcp("::1", 11211));
        let unix = Ok(Address::Unix(PathBuf::from("/run/m")));
        assert_eq!("/run/m".parse(), unix);
        assert_eq!("unix:/run/m".parse(), unix);
        assert!("host:port".parse::<Address>().is_err());
        assert!("[::1]x".parse::<Address>().is_err());
    }
}
