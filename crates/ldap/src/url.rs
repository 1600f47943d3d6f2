//! LDAP URLs (RFC 4516): `ldap://host:port/dn?attributes?scope?filter?extensions`.

use std::fmt;
use std::str::FromStr;

use crate::Scope;

/// An LDAP URL, percent encoding undone. Absent parts stay absent; RFC 4516 gives the defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LdapUrl {
    /// The protocol below LDAP.
    pub scheme: Scheme,
    /// Host name or address, IPv6 without brackets; for [`Scheme::Ldapi`] the path of the socket.
    pub host: Option<String>,
    /// Port; absent, the default of the scheme.
    pub port: Option<u16>,
    /// DN text; empty is the root.
    pub dn: String,
    /// Attributes wanted; none means all user attributes.
    pub attributes: Vec<String>,
    /// Scope; absent means base.
    pub scope: Option<Scope>,
    /// Filter text; absent means `(objectClass=*)`.
    pub filter: Option<String>,
    /// Extensions.
    pub extensions: Vec<UrlExtension>,
}

/// The transport of LDAP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// TCP.
    Ldap,
    /// TLS from the first byte.
    Ldaps,
    /// A local socket.
    Ldapi,
}

impl Scheme {
    /// Returns the scheme's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Scheme::Ldap => "ldap",
            Scheme::Ldaps => "ldaps",
            Scheme::Ldapi => "ldapi",
        }
    }

    /// Returns the port used where the URL has none.
    #[must_use]
    pub const fn default_port(self) -> Option<u16> {
        match self {
            Scheme::Ldap => Some(389),
            Scheme::Ldaps => Some(636),
            Scheme::Ldapi => None,
        }
    }
}

/// An extension of an LDAP URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlExtension {
    /// Written with `!`: the URL must not be used by who does not know this extension.
    pub critical: bool,
    /// Name or OID.
    pub name: String,
    /// Value, if there is one.
    pub value: Option<String>,
}

/// Why text is not an LDAP URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Another scheme, or none.
    #[error("an LDAP URL begins with ldap://, ldaps:// or ldapi://")]
    Scheme,
    /// A port that is no number from 0 to 65535, or text behind a bracketed address.
    #[error("{0:?} is not a port")]
    Port(String),
    /// An IPv6 address whose bracket does not close.
    #[error("the bracket around the IPv6 address does not close")]
    Bracket,
    /// A host that is neither a name nor an address: brackets belong around IPv6 addresses only.
    #[error("{0:?} is not a host; write IPv6 addresses in brackets")]
    Host(String),
    /// A percent sign without two hexadecimal digits.
    #[error("\"%\" must be followed by two hexadecimal digits in {0:?}")]
    Percent(String),
    /// Percent encoding of what is not UTF-8.
    #[error("{0:?} does not decode to UTF-8")]
    NotUtf8(String),
    /// A scope that is none of base, one, sub and children.
    #[error("{0:?} is not a scope; use base, one, sub or children")]
    Scope(String),
    /// An extension without a name.
    #[error("an extension has no name")]
    Extension,
    /// More than four question marks.
    #[error("too many \"?\"")]
    TooManyParts,
}

impl LdapUrl {
    /// Returns a URL of nothing but a scheme.
    #[must_use]
    pub const fn new(scheme: Scheme) -> Self {
        LdapUrl {
            scheme,
            host: None,
            port: None,
            dn: String::new(),
            attributes: Vec::new(),
            scope: None,
            filter: None,
            extensions: Vec::new(),
        }
    }

    /// Parses a URL.
    ///
    /// # Errors
    /// [`UrlError`]. DN and filter are not parsed.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let (scheme, rest) = text.split_once("://").ok_or(UrlError::Scheme)?;
        let scheme = [Scheme::Ldap, Scheme::Ldaps, Scheme::Ldapi]
            .into_iter()
            .find(|known| known.name().eq_ignore_ascii_case(scheme))
            .ok_or(UrlError::Scheme)?;
        let mut url = LdapUrl::new(scheme);
        let authority_len = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(authority_len);
        url.authority(authority)?;
        let mut parts = rest.strip_prefix('/').unwrap_or(rest).split('?');
        url.dn = decode(parts.next().unwrap_or_default())?;
        if let Some(attributes) = parts.next() {
            url.attributes = list(attributes).map(decode).collect::<Result<_, _>>()?;
        }
        url.scope = scope(parts.next().unwrap_or_default())?;
        url.filter = match parts.next() {
            None | Some("") => None,
            Some(filter) => Some(decode(filter)?),
        };
        if let Some(extensions) = parts.next() {
            url.extensions = list(extensions)
                .map(UrlExtension::parse)
                .collect::<Result<_, _>>()?;
        }
        if parts.next().is_some() {
            Err(UrlError::TooManyParts)
        } else {
            Ok(url)
        }
    }

    fn authority(&mut self, text: &str) -> Result<(), UrlError> {
        if self.scheme == Scheme::Ldapi {
            self.host = non_empty(decode(text)?);
            return Ok(());
        }
        let bracketed = text.strip_prefix('[');
        let (host, port) = match bracketed {
            Some(bracketed) => bracketed.split_once(']').ok_or(UrlError::Bracket)?,
            None => text.split_at(text.rfind(':').unwrap_or(text.len())),
        };
        let host = decode(host)?;
        let possible = |byte: u8| match bracketed {
            Some(_) => byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'),
            None => !matches!(byte, b':' | b'[' | b']'),
        };
        if !host.bytes().all(possible) {
            return Err(UrlError::Host(host));
        }
        self.host = non_empty(host);
        self.port = match port.strip_prefix(':') {
            Some(digits) => Some(port_number(digits)?),
            None if port.is_empty() => None,
            None => return Err(UrlError::Port(port.to_owned())),
        };
        Ok(())
    }

    /// Returns the first critical extension that is not among `known` (compared without case): a
    /// reason not to use this URL.
    #[must_use]
    pub fn unknown_critical(&self, known: &[&str]) -> Option<&UrlExtension> {
        self.extensions.iter().find(|extension| {
            extension.critical
                && !known
                    .iter()
                    .any(|name| extension.name.eq_ignore_ascii_case(name))
        })
    }
}

impl UrlExtension {
    fn parse(text: &str) -> Result<Self, UrlError> {
        let (critical, text) = match text.strip_prefix('!') {
            Some(text) => (true, text),
            None => (false, text),
        };
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(decode(value)?)),
            None => (text, None),
        };
        if name.is_empty() {
            return Err(UrlError::Extension);
        }
        Ok(UrlExtension {
            critical,
            name: decode(name)?,
            value,
        })
    }
}

fn scope(text: &str) -> Result<Option<Scope>, UrlError> {
    Ok(Some(match text.to_ascii_lowercase().as_str() {
        "" => return Ok(None),
        "base" => Scope::Base,
        "one" | "onelevel" => Scope::One,
        "sub" | "subtree" => Scope::Subtree,
        "children" | "subord" | "subordinate" => Scope::Children,
        _ => return Err(UrlError::Scope(text.to_owned())),
    }))
}

fn port_number(digits: &str) -> Result<u16, UrlError> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits
        .parse()
        .ok()
        .filter(|_| plain)
        .ok_or_else(|| UrlError::Port(digits.to_owned()))
}

fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|part| !part.is_empty())
}

fn non_empty(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

fn decode(text: &str) -> Result<String, UrlError> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || {
            bytes
                .next()
                .and_then(|digit| char::from(digit).to_digit(16))
        };
        let (Some(high), Some(low)) = (digit(), digit()) else {
            return Err(UrlError::Percent(text.to_owned()));
        };
        out.push((high << 4 | low).to_le_bytes()[0]);
    }
    String::from_utf8(out).map_err(|_| UrlError::NotUtf8(text.to_owned()))
}

/// Writes text with everything percent-encoded that is reserved, not ASCII, or in `special`.
fn encode(f: &mut fmt::Formatter<'_>, text: &str, special: &[u8]) -> fmt::Result {
    for byte in text.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte);
        if plain && !special.contains(&byte) {
            write!(f, "{}", char::from(byte))?;
        } else {
            write!(f, "%{byte:02X}")?;
        }
    }
    Ok(())
}

impl fmt::Display for LdapUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.scheme.name())?;
        match &self.host {
            Some(path) if self.scheme == Scheme::Ldapi => encode(f, path, b"/:")?,
            Some(address) if address.contains(':') => write!(f, "[{address}]")?,
            Some(host) => encode(f, host, b"/:@")?,
            None => {}
        }
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        let parts = 1 + [
            !self.attributes.is_empty(),
            self.scope.is_some(),
            self.filter.is_some(),
            !self.extensions.is_empty(),
        ]
        .iter()
        .rposition(|&present| present)
        .map_or(0, |last| last + 1);
        if parts > 1 || !self.dn.is_empty() {
            f.write_str("/")?;
            encode(f, &self.dn, b"")?;
        }
        if parts > 1 {
            write_list(f, &self.attributes, |f, attribute| {
                encode(f, attribute, b",")
            })?;
        }
        if parts > 2 {
            write!(f, "?{}", self.scope.map_or("", Scope::url_name))?;
        }
        if parts > 3 {
            f.write_str("?")?;
            encode(f, self.filter.as_deref().unwrap_or_default(), b"")?;
        }
        if parts > 4 {
            write_list(f, &self.extensions, UrlExtension::write)?;
        }
        Ok(())
    }
}

fn write_list<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    mut write: impl FnMut(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (number, item) in items.iter().enumerate() {
        f.write_str(if number == 0 { "?" } else { "," })?;
        write(f, item)?;
    }
    if items.is_empty() {
        f.write_str("?")
    } else {
        Ok(())
    }
}

impl UrlExtension {
    fn write(f: &mut fmt::Formatter<'_>, extension: &UrlExtension) -> fmt::Result {
        if extension.critical {
            f.write_str("!")?;
        }
        encode(f, &extension.name, b",=!")?;
        match &extension.value {
            Some(value) => {
                f.write_str("=")?;
                encode(f, value, b",")
            }
            None => Ok(()),
        }
    }
}

impl Scope {
    const fn url_name(self) -> &'static str {
        match self {
            Scope::Base => "base",
            Scope::One => "one",
            Scope::Subtree => "sub",
            // As OpenLDAP writes it.
            Scope::Children => "subordinate",
        }
    }
}

impl FromStr for LdapUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        LdapUrl::parse(text)
    }
}
