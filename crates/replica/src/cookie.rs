//! The cookies of a consumer: the one that it sends, and the states in those that it gets.

use fulgurite_ldap::EntryPlace;
use fulgurite_ldap::control::SyncCookie;

use crate::vector::Vector;

/// Returns the cookie of a state. A consumer of several providers says which server it is.
pub(crate) fn cookie(rid: u16, server: Option<u16>, state: &Vector) -> Vec<u8> {
    let cookie = SyncCookie {
        rid,
        sid: server,
        csns: state.csns().collect(),
        others: match server {
            Some(_) => vec![SyncCookie::PEER],
            None => vec![SyncCookie::COPY],
        },
        ..SyncCookie::default()
    };
    cookie.encode()
}

/// Returns the state in a cookie of a provider. A cookie that is none has no state.
pub(crate) fn state(cookie: Option<&[u8]>) -> Vector {
    let parsed = cookie.and_then(SyncCookie::parse);
    parsed.map_or_else(Vector::default, |cookie| Vector::of(cookie.csns))
}

/// Returns true if the provider is a server like this one, which tells all deletions.
pub(crate) fn is_of_peer(cookie: Option<&[u8]>) -> bool {
    let parsed = cookie.and_then(SyncCookie::parse);
    parsed.is_some_and(|cookie| cookie.is_of_peer())
}

/// Returns the place of the entry in whose message the cookie is.
pub(crate) fn place(cookie: Option<&[u8]>) -> Option<EntryPlace> {
    cookie.and_then(SyncCookie::parse)?.place()
}

/// Returns the numbers of the parts of the entry in whose message the cookie is.
pub(crate) fn stamps(cookie: Option<&[u8]>) -> Option<String> {
    let parsed = cookie.and_then(SyncCookie::parse)?;
    parsed.stamps().map(str::to_owned)
}

/// Returns the greatest number of the states that the deletion of a message ends.
pub(crate) fn ended(cookie: Option<&[u8]>) -> Option<String> {
    let parsed = cookie.and_then(SyncCookie::parse)?;
    parsed.ended().map(str::to_owned)
}

/// Returns the number of the deletion that a message tells.
pub(crate) fn deletion(cookie: Option<&[u8]>) -> Option<String> {
    let parsed = cookie.and_then(SyncCookie::parse)?;
    parsed.delete_csn.map(str::to_owned)
}

/// Returns the server that wrote a cookie.
pub(crate) fn server(cookie: Option<&[u8]>) -> Option<u16> {
    cookie.and_then(SyncCookie::parse)?.sid
}
