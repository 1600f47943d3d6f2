//! The replies to updates that the cluster has not settled.

use fulgurite_ldap::{LdapResult, ResultCode};

use crate::core::result::refuse;
use crate::directory::Directory;
use crate::write::request::{WriteReply, WriteRequest};

/// The outcome of an update that has no answer of its sequencer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsettled {
    /// Nothing was done, for certain.
    Busy,
    /// Nothing was done, for certain: the effects of this update fit no batch.
    TooLong,
    /// Perhaps it is done, perhaps not.
    Unknown,
}

impl Unsettled {
    fn result(self) -> LdapResult {
        let (code, text) = match self {
            Unsettled::Busy => (ResultCode::Busy, "the cluster takes no updates now"),
            Unsettled::TooLong => (
                ResultCode::UnwillingToPerform,
                "the update is too long for the cluster",
            ),
            Unsettled::Unknown => (
                ResultCode::Unavailable,
                "the cluster does not answer: the update may be done or not",
            ),
        };
        refuse(code, text)
    }
}

impl Directory {
    /// Returns the reply to an update that the cluster has not settled.
    #[must_use]
    pub fn unsettled_reply(&self, request: &WriteRequest, outcome: Unsettled) -> WriteReply {
        self.refused_reply(request, outcome.result())
    }
}
