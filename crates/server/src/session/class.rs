//! The class of a request, which determines its order among the requests of a connection.

use fulgurite_ldap::{Operation, RequestEnvelope, oid};

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

    /// Returns the class of the request in `pdu`, whose envelope is open.
    pub(super) fn of(envelope: &RequestEnvelope, pdu: &[u8]) -> RequestClass {
        match envelope.operation {
            Operation::Bind => RequestClass::Bind,
            Operation::Unbind => RequestClass::Unbind,
            Operation::Abandon => RequestClass::Abandon,
            Operation::Search => RequestClass::Search,
            Operation::Compare => RequestClass::Read,
            Operation::Extended => match envelope.extended_oid(pdu) {
                Some(oid) if oid == oid::CANCEL.as_bytes() => RequestClass::Cancel,
                Some(oid) if oid == oid::START_TLS.as_bytes() => RequestClass::StartTls,
                _ => RequestClass::Read,
            },
            Operation::Modify | Operation::Add | Operation::Delete | Operation::ModifyDn => {
                RequestClass::Update
            }
        }
    }
}
