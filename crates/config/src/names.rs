//! Settings of several parts: names with URLs, expressions, pieces of schema.

use std::num::NonZeroU32;
use std::path::PathBuf;

use fulgurite_policy::Sourced;

use crate::listen::ListenUrl;
use crate::setting::{Setting, Value, number_text, text};
use crate::tokens::{quoted, split_tokens};

/// The number of threads that answer requests; `None` for one per core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Threads(pub Option<u32>);

impl Setting for Threads {
    const KIND: &'static str = "number from 1 to 1024, or \"cores\"";

    fn read(value: Value) -> Result<Self, String> {
        match value {
            Value::Text(word) if word == "cores" => Ok(Self(None)),
            value => match NonZeroU32::read(value) {
                Ok(threads) if threads.get() <= 1024 => Ok(Self(Some(threads.get()))),
                _ => Err(
                    "a number from 1 to 1024, or \"cores\" for one thread per core, is expected"
                        .to_owned(),
                ),
            },
        }
    }

    fn show(&self) -> String {
        self.0
            .map_or_else(|| "cores".to_owned(), |threads| threads.to_string())
    }

    fn olc(&self) -> Vec<String> {
        self.0.iter().map(u32::to_string).collect()
    }
}

/// This server's number in change sequence numbers, and the listener that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerId {
    /// From 0 to 4095.
    pub id: u16,
    /// The listener's URL, if several servers share one configuration.
    pub url: Option<String>,
}

impl ServerId {
    /// Reads the words after `serverID`.
    pub(crate) fn from_tokens(words: &[&str]) -> Option<Self> {
        let [number, rest @ ..] = words else {
            return None;
        };
        // As in slapd, a leading zero means nothing, and letters make a number hexadecimal.
        let hexadecimal = number.strip_prefix("0x").or(number.strip_prefix("0X"));
        let id = match hexadecimal {
            Some(digits) => u16::from_str_radix(digits, 16),
            None => number.parse().or_else(|_| u16::from_str_radix(number, 16)),
        };
        let id = id.ok();
        id.filter(|id| *id <= 0xfff).map(|id| Self {
            id,
            url: rest.first().map(|url| (*url).to_owned()),
        })
    }
}

impl ServerId {
    /// Returns this server's number: that of the URL which one of the listeners has, or the number
    /// without a URL. Without either it is 0.
    #[must_use]
    pub fn own(all: &[Sourced<ServerId>], listen: &[Sourced<ListenUrl>]) -> u16 {
        let is_ours = |server: &&Sourced<ServerId>| {
            let url = server.url.as_ref();
            url.is_some_and(|url| is_own_url(url, listen))
        };
        let own = all.iter().find(is_ours);
        let plain = || all.iter().find(|server| server.url.is_none());
        own.or_else(plain).map_or(0, |server| server.id)
    }
}

/// Returns true for the URL of a listener of this server.
#[must_use]
pub fn is_own_url(url: &str, listen: &[Sourced<ListenUrl>]) -> bool {
    url.parse::<ListenUrl>().is_ok_and(|url| {
        let mut listeners = listen.iter();
        listeners.any(|own| is_same_address(&own.value, &url))
    })
}

fn is_same_address(one: &ListenUrl, other: &ListenUrl) -> bool {
    one.scheme == other.scheme
        && one.port == other.port
        && one.path == other.path
        && one.host.eq_ignore_ascii_case(&other.host)
}

impl Setting for ServerId {
    const KIND: &'static str = "a number and a URL";

    fn read(value: Value) -> Result<Self, String> {
        let text = number_text(value)?;
        let words: Vec<&str> = text.split_whitespace().collect();
        Self::from_tokens(&words).ok_or_else(|| {
            format!("\"{text}\" is no number from 0 to 4095, with or without a URL after it")
        })
    }

    fn show(&self) -> String {
        match &self.url {
            Some(url) => format!("{} {url}", self.id),
            None => self.id.to_string(),
        }
    }
}

/// A rule that maps an identity of SASL to a name: a regular expression and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthzRegexp {
    /// The expression, matched against `uid=...,cn=...,cn=auth`.
    pub pattern: String,
    /// A name or an LDAP URL, with `$1` and so on.
    pub replacement: String,
}

impl Setting for AuthzRegexp {
    const KIND: &'static str = "an expression and its replacement";

    fn read(value: Value) -> Result<Self, String> {
        let words = match value {
            Value::List(items) => items
                .into_iter()
                .map(|item| text(item.value))
                .collect::<Result<_, _>>()?,
            one => split_tokens(&text(one)?)?,
        };
        match <[String; 2]>::try_from(words) {
            Ok([pattern, replacement]) => Ok(Self {
                pattern,
                replacement,
            }),
            Err(_) => Err("an expression and its replacement are expected".to_owned()),
        }
    }

    fn show(&self) -> String {
        format!("{} {}", quoted(&self.pattern), quoted(&self.replacement))
    }
}

/// A piece of schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaPart {
    /// A file: `.schema`, cn=schema LDIF or plain RFC 4512 LDIF.
    File(PathBuf),
    /// The text after `attributetype`.
    AttributeType(String),
    /// The text after `objectclass`.
    ObjectClass(String),
    /// The text after `objectidentifier`.
    ObjectIdentifier(String),
    /// The text after `ditcontentrule`.
    DitContentRule(String),
    /// The text after `ldapsyntax`.
    LdapSyntax(String),
}

impl SchemaPart {
    /// Returns the attribute of `cn=config` that holds such a definition; none for a file.
    #[must_use]
    pub fn attribute(&self) -> Option<&'static str> {
        match self {
            SchemaPart::File(_) => None,
            SchemaPart::ObjectIdentifier(_) => Some("olcObjectIdentifier"),
            SchemaPart::LdapSyntax(_) => Some("olcLdapSyntaxes"),
            SchemaPart::AttributeType(_) => Some("olcAttributeTypes"),
            SchemaPart::ObjectClass(_) => Some("olcObjectClasses"),
            SchemaPart::DitContentRule(_) => Some("olcDitContentRules"),
        }
    }

    /// Returns the text of a definition; none for a file.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            SchemaPart::File(_) => None,
            SchemaPart::ObjectIdentifier(text)
            | SchemaPart::LdapSyntax(text)
            | SchemaPart::AttributeType(text)
            | SchemaPart::ObjectClass(text)
            | SchemaPart::DitContentRule(text) => Some(text),
        }
    }
}

impl Setting for SchemaPart {
    const KIND: &'static str = "a path, or a definition";

    /// Reads a path, or a definition with its word of slapd.conf.
    fn read(value: Value) -> Result<Self, String> {
        let text = text(value)?;
        let (word, rest) = text.split_once(' ').unwrap_or((&text, ""));
        let kind: Option<fn(String) -> SchemaPart> = match word {
            "attributetype" => Some(Self::AttributeType),
            "objectclass" => Some(Self::ObjectClass),
            "objectidentifier" => Some(Self::ObjectIdentifier),
            "ditcontentrule" => Some(Self::DitContentRule),
            "ldapsyntax" => Some(Self::LdapSyntax),
            _ => None,
        };
        Ok(match kind.filter(|_| !rest.is_empty()) {
            Some(kind) => kind(rest.to_owned()),
            None => Self::File(PathBuf::from(text)),
        })
    }

    fn show(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::AttributeType(text) => format!("attributetype {text}"),
            Self::ObjectClass(text) => format!("objectclass {text}"),
            Self::ObjectIdentifier(text) => format!("objectidentifier {text}"),
            Self::DitContentRule(text) => format!("ditcontentrule {text}"),
            Self::LdapSyntax(text) => format!("ldapsyntax {text}"),
        }
    }

    fn items(text: &str) -> Vec<String> {
        PathBuf::items(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Origin;

    #[test]
    fn a_server_finds_its_number_by_its_listeners() {
        let ids = ["1 ldap://a:3890", "2 ldap://B:389/", "3"];
        let ids = ids.map(|text| {
            let words: Vec<&str> = text.split(' ').collect();
            let id = ServerId::from_tokens(&words).expect("a number");
            Sourced::new(id, Origin::Default)
        });
        for (listen, number) in [("ldap://b", 2), ("ldap://a:3890", 1), ("ldap://a", 3)] {
            let listen = Sourced::new(listen.parse().expect("a URL"), Origin::Default);
            assert_eq!(ServerId::own(&ids, &[listen]), number);
        }
        assert_eq!(ServerId::own(&[], &[]), 0);
    }

    #[test]
    fn numbers_are_read_as_slapd_reads_them() {
        let read = |text| ServerId::from_tokens(&[text]).map(|server| server.id);
        let numbers = ["010", "0x10", "abc", "4096", "x"].map(read);
        assert_eq!(numbers, [Some(10), Some(16), Some(2748), None, None]);
    }
}
