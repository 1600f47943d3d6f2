//! What a request means for the order of things on its connection.

use fulgurite_ldap::{Request, oid};

/// How a request relates to its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
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

impl Class {
    /// Whether nothing that comes behind may begin before it.
    pub(super) fn is_barrier(self) -> bool {
        matches!(self, Class::Bind | Class::Unbind)
    }

    pub(super) fn of(request: &Request<'_>) -> Class {
        match request {
            Request::Bind(_) => Class::Bind,
            Request::Unbind => Class::Unbind,
            Request::Abandon(_) => Class::Abandon,
            Request::Search(_) => Class::Search,
            Request::Extended(extended) if extended.oid == oid::CANCEL.as_bytes() => Class::Cancel,
            Request::Extended(extended) if extended.oid == oid::START_TLS.as_bytes() => {
                Class::StartTls
            }
            Request::Compare(_) | Request::Extended(_) => Class::Read,
            Request::Modify(_) | Request::Add(_) | Request::Delete(_) | Request::ModifyDn(_) => {
                Class::Update
            }
        }
    }
}
