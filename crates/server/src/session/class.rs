//! What a request means for the order of things on its connection.

use fulgurite_ldap::{Request, oid};

/// How a request relates to its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestClass {
    /// Waits for everything before it, and everything after waits for it.
    Bind,
    /// Ends the connection.
    Unbind,
    /// Stops another request, without waiting for anything.
    Abandon,
    /// The same, with answers.
    Cancel,
    /// Reads for as long as it takes.
    Search,
    /// Reads and is done, or has become something else.
    Read,
    /// Puts TLS below the connection; nothing may be outstanding, so it never waits.
    StartTls,
    /// Changes; done when the writer says so.
    Update,
}

impl RequestClass {
    /// Whether nothing that comes behind may begin before it.
    pub(super) fn is_barrier(self) -> bool {
        matches!(self, RequestClass::Bind | RequestClass::Unbind)
    }

    pub(super) fn of(request: &Request<'_>) -> RequestClass {
        match request {
            Request::Bind(_) => RequestClass::Bind,
            Request::Unbind => RequestClass::Unbind,
            Request::Abandon(_) => RequestClass::Abandon,
            Request::Search(_) => RequestClass::Search,
            Request::Extended(extended) if extended.oid == oid::CANCEL.as_bytes() => {
                RequestClass::Cancel
            }
            Request::Extended(extended) if extended.oid == oid::START_TLS.as_bytes() => {
                RequestClass::StartTls
            }
            Request::Compare(_) | Request::Extended(_) => RequestClass::Read,
            Request::Modify(_) | Request::Add(_) | Request::Delete(_) | Request::ModifyDn(_) => {
                RequestClass::Update
            }
        }
    }
}
