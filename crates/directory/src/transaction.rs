//! Transactions of clients (RFC 5805): updates that wait on their connection until all are done, or none.

use fulgurite_ldap::{LdapResult, ResultCode};

use crate::answer::refuse;

/// There is no such transaction on this connection.
pub(crate) fn unknown() -> LdapResult {
    refuse(
        ResultCode::TransactionIdInvalid,
        "invalid transaction identifier",
    )
}
