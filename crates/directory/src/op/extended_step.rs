//! How an extended operation goes on.

use fulgurite_ldap::{LdapResult, MessageId, encode};

use crate::op::password_modify::PasswordChange;
use crate::write::request::WriteRequest;

/// How an extended operation goes on.
#[derive(Debug)]
pub enum ExtendedStep {
    /// It is answered.
    Done(ExtendedReply),
    /// Passwords have to be verified and hashed: [`PasswordChange::run`] it on a thread that may take its time.
    Passwords(Box<PasswordChange>),
    /// It changes something: the writer answers.
    Update(WriteRequest),
    /// The connection is to stop its operation with this id, and answer both (RFC 3909).
    Cancel(MessageId),
}

/// The answer to an extended operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtendedReply {
    /// Its result.
    pub result: LdapResult,
    /// Its value, where the operation has one.
    pub value: Option<Vec<u8>>,
}

impl ExtendedReply {
    /// Appends the response.
    pub fn encode(&self, id: MessageId, out: &mut Vec<u8>) {
        encode::extended_result(out, id, &self.result, None, self.value.as_deref(), &[]);
    }
}
