//! The class of a request, which determines its order among the requests of a connection.

use fulgurite_ldap::{Request, oid};

/// The class of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestClass {
    /// Waits for all requests before it; all requests after it wait for it.
    Bind,
    /// Ends the connection.
    Unbind,
    /// Stops another request. It never waits and has no response.
    Abandon,
    /// Stops another request. It never waits, and both requests get a response.
    Cancel,
    /// Reads in several quanta.
    Search,
    /// Reads and is done at once, or becomes an update or a job for the hashing pool.
    Read,
    /// Puts TLS below the connection. No other request may be outstanding, so it never waits.
    StartTls,
    /// Changes entries; done when the writer answers.
    Update,
}

impl RequestClass {
    /// Returns true if no later request may begin before this one.
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
