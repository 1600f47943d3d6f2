//! Addresses to listen on, written as LDAP URLs.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::setting::{Setting, Value, text};

/// An address to listen on.
///
/// - `ldap://HOST[:PORT]` and `ldaps://HOST[:PORT]`. The default port is 389 or 636. An empty host
///   means every address.
/// - `ldapi://PATH`, with the slashes of the path as `%2F`. A relative path begins in the working
///   directory. The default path is [`LDAPI_PATH`]. The extension `????x-mod=0700` (or
///   `x-mod=-rwx------`) is the mode of the socket.
/// - `pldap://HOST[:PORT]` and `pldaps://HOST[:PORT]`, for load balancers that send a header of the
///   PROXY protocol (version 2) with the client's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenUrl {
    /// The protocol.
    pub scheme: ListenScheme,
    /// Host name, IPv4 or IPv6 address (without brackets); empty for every address of this machine.
    pub host: String,
    /// True if each connection begins with a header of the PROXY protocol.
    pub proxied: bool,
    /// TCP port; 0 lets the system choose.
    pub port: u16,
    /// The UNIX socket of `ldapi`.
    pub path: PathBuf,
    /// Its permission bits, unless they are 0777.
    pub mode: Option<u32>,
    /// The URL as written; `sockurl` of access rules and cn=Monitor compare it.
    pub text: String,
}

/// The protocol of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListenScheme {
    /// LDAP over TCP; StartTLS is possible.
    Ldap,
    /// TLS from the first byte.
    Ldaps,
    /// LDAP over a UNIX socket.
    Ldapi,
}

/// The socket of `ldapi:///`, at the path of Debian's clients.
pub const LDAPI_PATH: &str = "/var/run/slapd/ldapi";

impl ListenScheme {
    const ALL: [ListenScheme; 3] = [Self::Ldap, Self::Ldaps, Self::Ldapi];

    /// With the colon and slashes.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Ldap => "ldap://",
            Self::Ldaps => "ldaps://",
            Self::Ldapi => "ldapi://",
        }
    }

    /// RFC 4516, section 2; 636 is the custom of decades.
    const fn port(self) -> u16 {
        match self {
            Self::Ldap => 389,
            Self::Ldaps => 636,
            Self::Ldapi => 0,
        }
    }
}

impl ListenUrl {
    /// `ldap://` at a host, empty for every address, and port.
    #[must_use]
    pub fn ldap(host: &str, port: u16) -> ListenUrl {
        let mut url = ListenUrl {
            scheme: ListenScheme::Ldap,
            host: host.to_owned(),
            proxied: false,
            port,
            path: PathBuf::new(),
            mode: None,
            text: String::new(),
        };
        url.text = url.to_string();
        url
    }

    /// Reads a list as slapd's `-h` has it: URLs with blanks between them.
    ///
    /// # Errors
    /// A sentence about the first URL that is none, or about an empty list.
    pub fn parse_list(text: &str) -> Result<Vec<ListenUrl>, String> {
        let urls: Vec<ListenUrl> = text
            .split_ascii_whitespace()
            .map(str::parse)
            .collect::<Result<_, _>>()?;
        if urls.is_empty() {
            return Err("the list of addresses to listen on is empty".to_owned());
        }
        Ok(urls)
    }

    fn parse_tcp(text: &str, scheme: ListenScheme, rest: &str) -> Result<ListenUrl, String> {
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if rest.contains('/') || rest.contains('?') {
            return Err(format!("\"{text}\" has more than a host and a port"));
        }
        let (host, port) = split_port(rest)
            .ok_or_else(|| format!("\"{text}\" has a bracket without its partner"))?;
        let port = match port {
            None => scheme.port(),
            Some(port) => port
                .parse()
                .map_err(|_| format!("\"{port}\" in \"{text}\" is not a port number"))?,
        };
        let bracketed = rest.starts_with('[');
        if bracketed != host.contains(':')
            || (bracketed && host.parse::<std::net::Ipv6Addr>().is_err())
        {
            return Err(format!(
                "\"{host}\" in \"{text}\" is not an address; IPv6 is written as {}[::1]:{}",
                scheme.prefix(),
                scheme.port()
            ));
        }
        Ok(ListenUrl {
            scheme,
            text: text.to_owned(),
            ..ListenUrl::ldap(host, port)
        })
    }

    fn parse_unix(text: &str, rest: &str) -> Result<ListenUrl, String> {
        let (path, extensions) = match rest.split_once('/') {
            Some((path, after)) => (path, after),
            None => rest.split_once('?').unwrap_or((rest, "")),
        };
        let path = decode_percent(path)
            .ok_or_else(|| format!("the path in \"{text}\" is not percent-encoded UTF-8"))?;
        let mode = match extensions.trim_start_matches('?') {
            "" => None,
            _ if path.is_empty() && !extensions.starts_with('?') => {
                let encoded = extensions.replace('/', "%2F");
                return Err(format!(
                    "\"{text}\" has a path behind the third slash; the path of a socket is written as ldapi://%2F{encoded}"
                ));
            }
            extension => Some(parse_mode(extension).ok_or_else(|| {
                format!("\"{extension}\" in \"{text}\" is not known; the mode of the socket is written as ????x-mod=0770")
            })?),
        };
        Ok(ListenUrl {
            scheme: ListenScheme::Ldapi,
            path: if path.is_empty() {
                LDAPI_PATH.into()
            } else {
                path.into()
            },
            mode,
            text: text.to_owned(),
            ..ListenUrl::ldap("", 0)
        })
    }
}

impl Default for ListenUrl {
    /// The loopback address, port 389.
    fn default() -> Self {
        Self::ldap("127.0.0.1", ListenScheme::Ldap.port())
    }
}

impl FromStr for ListenUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // slapd takes the slashes of an empty host for granted: "ldap:".
        let lower = text.to_ascii_lowercase();
        let behind_proxy = lower.strip_prefix('p');
        let behind_proxy =
            behind_proxy.filter(|rest| rest.starts_with("ldap:") || rest.starts_with("ldaps:"));
        let proxied = behind_proxy.is_some();
        let (whole, text) = (text, text.get(usize::from(proxied)..).unwrap_or_default());
        let lower = behind_proxy.unwrap_or(&lower);
        for scheme in ListenScheme::ALL {
            let prefix = scheme.prefix();
            let bare = prefix.trim_end_matches('/');
            let rest = match lower.strip_prefix(prefix) {
                Some(_) => text.get(prefix.len()..).unwrap_or_default(),
                None if lower == bare => "",
                None => continue,
            };
            return match scheme {
                ListenScheme::Ldapi => Self::parse_unix(text, rest),
                _ => Self::parse_tcp(whole, scheme, rest),
            }
            .map(|url| ListenUrl { proxied, ..url });
        }
        Err(format!(
            "\"{whole}\" is not an address of the form ldap://HOST:PORT, ldaps://HOST:PORT or ldapi://PATH"
        ))
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

/// `x-mod=0700` or `x-mod=-rwxrwx---`, perhaps with the mark of a critical extension.
fn parse_mode(extension: &str) -> Option<u32> {
    let value = extension.trim_start_matches('!').strip_prefix("x-mod=")?;
    if value.len() == 10 {
        let letters = value.strip_prefix('-')?.bytes();
        return letters.zip(b"rwxrwxrwx".iter()).try_fold(
            0,
            |mode, (letter, expected)| match letter {
                b'-' => Some(mode << 1),
                letter if letter == *expected => Some(mode << 1 | 1),
                _ => None,
            },
        );
    }
    u32::from_str_radix(value, 8)
        .ok()
        .filter(|mode| *mode <= 0o777 && value.bytes().all(|digit| digit.is_ascii_digit()))
}

fn decode_percent(text: &str) -> Option<String> {
    let mut octets = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(octet) = rest.next() {
        octets.push(match octet {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                let digits = std::str::from_utf8(&digits).ok()?;
                u8::from_str_radix(digits, 16)
                    .ok()
                    .filter(|octet| *octet != 0)?
            }
            octet => octet,
        });
    }
    String::from_utf8(octets).ok()
}

impl fmt::Display for ListenUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = self.scheme.prefix();
        if self.proxied {
            write!(out, "p")?;
        }
        if self.scheme == ListenScheme::Ldapi {
            write!(
                out,
                "{prefix}{}",
                self.path.display().to_string().replace('/', "%2F")
            )
        } else if self.host.contains(':') {
            write!(out, "{prefix}[{}]:{}", self.host, self.port)
        } else {
            write!(out, "{prefix}{}:{}", self.host, self.port)
        }
    }
}

impl Setting for ListenUrl {
    const KIND: &'static str = "a URL";

    fn read(value: Value) -> Result<Self, String> {
        text(value)?.parse()
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn items(text: &str) -> Vec<String> {
        PathBuf::items(text)
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
            ("ldap:", "ldap://:389"),
            ("pldap:///", "pldap://:389"),
            ("PLDAPS://h", "pldaps://h:636"),
            ("pldap://[::1]:3890/", "pldap://[::1]:3890"),
            ("LDAP://h", "ldap://h:389"),
            ("ldap://:3890/", "ldap://:3890"),
            ("ldap://[::1]:3890", "ldap://[::1]:3890"),
            ("ldap://[::]", "ldap://[::]:389"),
            ("ldaps:///", "ldaps://:636"),
            ("ldaps://h:6360", "ldaps://h:6360"),
            ("ldapi:///", "ldapi://%2Fvar%2Frun%2Fslapd%2Fldapi"),
            ("ldapi://%2ftmp%2fl", "ldapi://%2Ftmp%2Fl"),
            ("ldapi://%2Ftmp%2Fl/", "ldapi://%2Ftmp%2Fl"),
            ("ldapi://sock", "ldapi://sock"),
            ("ldapi://.%2fdir%2fsock/", "ldapi://.%2Fdir%2Fsock"),
        ] {
            let url = text.parse::<ListenUrl>().unwrap();
            assert_eq!(url.to_string(), printed, "{text}");
            assert_eq!(url.text, text);
        }
    }

    #[test]
    fn the_mode_of_a_socket() {
        for (text, mode) in [
            ("ldapi://%2Fl", None),
            ("ldapi://%2Fl/????x-mod=0700", Some(0o700)),
            ("ldapi://%2Fl/????!x-mod=770", Some(0o770)),
            ("ldapi://%2Fl????x-mod=-rwxr-x---", Some(0o750)),
        ] {
            assert_eq!(text.parse::<ListenUrl>().unwrap().mode, mode, "{text}");
        }
    }

    #[test]
    fn a_path_that_is_not_encoded_is_shown_encoded() {
        let error = "ldapi:///run/ldapi".parse::<ListenUrl>().unwrap_err();
        assert!(
            error.ends_with("written as ldapi://%2Frun%2Fldapi"),
            "{error}"
        );
    }

    #[test]
    fn lists_are_separated_by_blanks() {
        let list = ListenUrl::parse_list(" ldap:///  ldapi:/// ").unwrap();
        assert_eq!(
            list.iter().map(|url| url.scheme).collect::<Vec<_>>(),
            [ListenScheme::Ldap, ListenScheme::Ldapi]
        );
        assert!(ListenUrl::parse_list(" ").is_err());
        assert!(
            ListenUrl::parse_list("ldap:/// http://h")
                .unwrap_err()
                .contains("http://h")
        );
    }

    #[test]
    fn refuses_with_a_sentence() {
        for text in [
            "http://h",
            "pldapi:///",
            "pldap://h:x",
            "127.0.0.1:389",
            "ldap://h:x",
            "ldap://h:70000",
            "ldap://::1:389",
            "ldap://[::1",
            "ldap://h/dc=x",
            "ldaps://h:x",
            "ldapi://%2",
            "ldapi://%00",
            "ldapi://%2Fl/????x-mod=888",
            "ldapi://%2Fl/????x-mod=-rwz------",
            "ldapi://%2Fl/????x-unknown",
            "ldapi:///run/ldapi",
        ] {
            assert!(
                text.parse::<ListenUrl>().unwrap_err().contains(text),
                "{text}"
            );
        }
    }
}
