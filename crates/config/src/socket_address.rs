//! Addresses of listeners that do not speak LDAP.

use std::fmt;

use crate::setting::{Setting, Value, text};

/// Host and port, written as `HOST:PORT`, `[IPv6]:PORT` or `:PORT` for every address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketAddress {
    /// Host name or address, without brackets; empty for every address of this machine.
    pub host: String,
    /// TCP port; 0 lets the system choose.
    pub port: u16,
}

impl SocketAddress {
    fn parse(text: &str) -> Option<SocketAddress> {
        let (host, port) = text.rsplit_once(':')?;
        let inside = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let is_host = match inside {
            Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
            None => !host.contains([':', '/', '[', ']']) && !host.contains(char::is_whitespace),
        };
        Some(SocketAddress {
            host: inside.unwrap_or(host).to_owned(),
            port: port.parse().ok().filter(|_| is_host)?,
        })
    }
}

impl fmt::Display for SocketAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

impl Setting for Option<SocketAddress> {
    const KIND: &'static str = "address, such as \"127.0.0.1:9389\"";

    fn read(value: Value) -> Result<Self, String> {
        let text = text(value)?;
        let form = "HOST:PORT, [::1]:PORT or :PORT";
        SocketAddress::parse(&text)
            .map(Some)
            .ok_or_else(|| format!("\"{text}\" is not an address of the form {form}"))
    }

    fn show(&self) -> String {
        self.as_ref()
            .map(SocketAddress::to_string)
            .unwrap_or_default()
    }

    fn toml(&self) -> Option<String> {
        self.as_ref()
            .map(|address| crate::setting::quoted(&address.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_back() {
        for text in ["127.0.0.1:9389", "[::1]:9389", ":0", "localhost:65535"] {
            assert_eq!(SocketAddress::parse(text).expect(text).to_string(), text);
        }
        for text in [
            "",
            "9389",
            "host",
            "::1:9389",
            "[host]:1",
            "host:65536",
            "http://a:1",
            "a b:1",
        ] {
            assert_eq!(SocketAddress::parse(text), None, "{text}");
        }
    }
}
