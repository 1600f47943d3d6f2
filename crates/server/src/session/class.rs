//! What a request means for the order of things on its connection.

use fulgurite_ldap::Request;

/// How a request relates to its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Waits for everything before it, and everything after waits for it.
    Bind,
    /// Ends the connection.
    Unbind,
    /// Stops another request, without waiting for anything.
    Abandon,
    /// Reads for as long as it takes; sees the updates that came before it.
    Search,
    /// Reads and is done; sees the updates that came before it.
    Read,
    /// Changes; done when the writer says so.
    Update,
}

impl Class {
    pub(super) fn of(request: &Request<'_>) -> Class {
        match request {
            Request::Bind(_) => Class::Bind,
            Request::Unbind => Class::Unbind,
            Request::Abandon(_) => Class::Abandon,
            Request::Search(_) => Class::Search,
            Request::Compare(_) | Request::Extended(_) => Class::Read,
            Request::Modify(_) | Request::Add(_) | Request::Delete(_) | Request::ModifyDn(_) => {
                Class::Update
            }
        }
    }
}
