//! The steps of extended operations.

use fulgurite_ldap::{LdapResult, MessageId, encode};

use crate::op::password_modify::PasswordChange;
use crate::write::request::WriteRequest;

/// The next step of an extended operation, with the types of its passwords and updates.
#[derive(Debug)]
pub enum ExtendedStep<P = Box<PasswordChange>, U = WriteRequest> {
    /// The operation is answered.
    Done(ExtendedReply),
    /// Passwords must be verified and hashed: call [`PasswordChange::run`] on a thread for that.
    Passwords(P),
    /// The writer must apply an update.
    Update(U),
    /// The connection must cancel its operation with this id, and answer both (RFC 3909).
    Cancel(MessageId),
}

/// The answer to an extended operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtendedReply {
    /// The result.
    pub result: LdapResult,
    /// The value of the response.
    pub value: Option<Vec<u8>>,
}

impl ExtendedReply {
    /// Appends the response.
    pub fn encode(&self, id: MessageId, out: &mut Vec<u8>) {
        encode::extended_result(out, id, &self.result, None, self.value.as_deref(), &[]);
    }
}
