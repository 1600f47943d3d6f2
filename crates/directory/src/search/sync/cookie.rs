//! Vectors as cookies.

use fulgurite_ldap::control::SyncCookie;
use fulgurite_store::{CsnVector, PackedCsn};

/// The fixed parts of the cookies of one search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CookieForm {
    /// The number that the consumer gave its replication.
    pub(super) rid: u16,
    /// The number of this server; 0 if it has none.
    pub(super) server: u16,
    /// True if the consumer is a peer (`fg=1`).
    pub(super) is_peer: bool,
}

/// The cookie of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RequestCookie {
    pub(super) rid: u16,
    /// True if the consumer has a copy or begins one, and no other server changes it.
    pub(super) is_of_copy: bool,
    /// The number of the consumer's server, if it sends one.
    pub(super) server: Option<u16>,
    /// True if the consumer is a peer (`fg=1`): a server of this program that clients may update.
    pub(super) is_peer: bool,
    /// True if the consumer is a server of this program (`fg=0`, `fg=1`), whoever changes its copy.
    pub(super) is_of_same_program: bool,
    /// The state of the consumer's copy; empty if it has none.
    pub(super) vector: CsnVector,
}

impl RequestCookie {
    /// Reads a cookie. Like slapd, it takes text that is no cookie as none.
    pub(super) fn parse(cookie: Option<&[u8]>) -> RequestCookie {
        let Some(parsed) = cookie.and_then(SyncCookie::parse) else {
            return RequestCookie::default();
        };
        let numbers = parsed.csns.iter();
        let numbers = numbers.filter_map(|csn| PackedCsn::parse(csn.as_bytes()));
        RequestCookie {
            rid: parsed.rid,
            is_of_copy: parsed.sid.is_none(),
            server: parsed.sid,
            is_peer: parsed.is_of_peer(),
            is_of_same_program: parsed.is_of_same_program(),
            vector: numbers.collect(),
        }
    }

    /// Returns the number of the consumer's server. The own number says nothing: clients that are
    /// no servers return a cookie as they got it.
    pub(super) fn other_server(&self, own: u16) -> Option<u16> {
        self.server.filter(|server| *server != own)
    }
}

impl CookieForm {
    /// Returns the cookie of a vector.
    pub(super) fn vector(self, vector: &CsnVector) -> Vec<u8> {
        self.cookie(vector.iter())
    }

    /// Returns the cookie with one number.
    pub(super) fn number(self, csn: PackedCsn) -> Vec<u8> {
        self.cookie(std::iter::once(csn))
    }

    fn cookie(self, numbers: impl Iterator<Item = PackedCsn>) -> Vec<u8> {
        let texts: Vec<String> = numbers.map(|csn| csn.text()).collect();
        let cookie = SyncCookie {
            rid: self.rid,
            sid: Some(self.server).filter(|server| *server != 0),
            csns: texts.iter().map(String::as_str).collect(),
            others: match self.is_peer {
                true => vec![SyncCookie::PEER],
                false => Vec::new(),
            },
            ..SyncCookie::default()
        };
        cookie.encode()
    }

    /// Returns a cookie with another part, for a peer.
    pub(super) fn with(self, cookie: Option<&[u8]>, part: &str) -> Vec<u8> {
        let without = || self.cookie(std::iter::empty());
        let mut cookie = cookie.map_or_else(without, <[u8]>::to_vec);
        cookie.push(b',');
        cookie.extend_from_slice(part.as_bytes());
        cookie
    }
}
