//! The cookies of a consumer: the one that it sends, and the states in those that it gets.

use fulgurite_ldap::control::SyncCookie;

use crate::vector::Vector;

/// Returns the cookie of a state. A consumer of several providers says which server it is.
pub(crate) fn cookie(rid: u16, server: Option<u16>, state: &Vector) -> Vec<u8> {
    let cookie = SyncCookie {
        rid,
        sid: server,
        csns: state.csns().collect(),
        ..SyncCookie::default()
    };
    cookie.encode()
}

/// Returns the state in a cookie of a provider. A cookie that is none has no state.
pub(crate) fn state(cookie: Option<&[u8]>) -> Vector {
    let parsed = cookie.and_then(SyncCookie::parse);
    parsed.map_or_else(Vector::default, |cookie| Vector::of(cookie.csns))
}

/// Returns the number of the deletion that a set of UUIDs tells.
pub(crate) fn deletion(cookie: Option<&[u8]>) -> Option<String> {
    let parsed = cookie.and_then(SyncCookie::parse)?;
    parsed.delete_csn.map(str::to_owned)
}

/// Returns the server that wrote a cookie.
pub(crate) fn server(cookie: Option<&[u8]>) -> Option<u16> {
    cookie.and_then(SyncCookie::parse)?.sid
}
