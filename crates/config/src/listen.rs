//! Addresses to listen on, written as LDAP URLs.

use std::fmt;
use std::str::FromStr;

/// An address to listen on: `ldap://HOST[:PORT]`, the port 389 unless given, an empty host for every address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenUrl {
    /// Host name, IPv4 or IPv6 address (without brackets); empty for every address of this machine.
    pub host: String,
    /// TCP port; 0 lets the system choose.
    pub port: u16,
}

/// The port of `ldap://` (RFC 4516, section 2).
const LDAP_PORT: u16 = 389;

impl FromStr for ListenUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rest = text.strip_prefix("ldap://").ok_or_else(|| {
            format!("\"{text}\" is not an address of the form ldap://HOST:PORT, the only kind this release listens on")
        })?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if rest.contains('/') || rest.contains('?') {
            return Err(format!("\"{text}\" has more than a host and a port"));
        }
        let (host, port) = split_port(rest)
            .ok_or_else(|| format!("\"{text}\" has a bracket without its partner"))?;
        let port = match port {
            None => LDAP_PORT,
            Some(port) => port
                .parse()
                .map_err(|_| format!("\"{port}\" in \"{text}\" is not a port number"))?,
        };
        let bracketed = rest.starts_with('[');
        if bracketed != host.contains(':')
            || (bracketed && host.parse::<std::net::Ipv6Addr>().is_err())
        {
            return Err(format!(
                "\"{host}\" in \"{text}\" is not an address; IPv6 is written as ldap://[::1]:389"
            ));
        }
        Ok(Self {
            host: host.to_owned(),
            port,
        })
    }
}

/// Host and port of `host`, `host:port`, `[v6]` or `[v6]:port`.
fn split_port(text: &str) -> Option<(&str, Option<&str>)> {
    if let Some(inside) = text.strip_prefix('[') {
        let (host, after) = inside.split_once(']')?;
        return match after {
            "" => Some((host, None)),
            after => after.strip_prefix(':').map(|port| (host, Some(port))),
        };
    }
    Some(match text.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (text, None),
    })
}

impl fmt::Display for ListenUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(out, "ldap://[{}]:{}", self.host, self.port)
        } else {
            write!(out, "ldap://{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints() {
        for (text, printed) in [
            ("ldap://127.0.0.1:3890", "ldap://127.0.0.1:3890"),
            ("ldap://localhost", "ldap://localhost:389"),
            ("ldap:///", "ldap://:389"),
            ("ldap://:3890/", "ldap://:3890"),
            ("ldap://[::1]:3890", "ldap://[::1]:3890"),
            ("ldap://[::]", "ldap://[::]:389"),
        ] {
            assert_eq!(
                text.parse::<ListenUrl>().unwrap().to_string(),
                printed,
                "{text}"
            );
        }
    }

    #[test]
    fn refuses_with_a_sentence() {
        for text in [
            "ldaps://h",
            "127.0.0.1:389",
            "ldap://h:x",
            "ldap://h:70000",
            "ldap://::1:389",
            "ldap://[::1",
            "ldap://h/dc=x",
        ] {
            assert!(
                text.parse::<ListenUrl>().unwrap_err().contains(text),
                "{text}"
            );
        }
    }
}
