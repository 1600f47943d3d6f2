//! The replies to updates that the cluster has not settled.

use std::sync::Arc;

use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_schema::Schema;

use crate::core::result::refuse;
use crate::directory::Directory;
use crate::write::request::{WriteReply, WriteRequest};
use crate::write::update_order::{OrderedDirectory, Unsettled};

/// Returns the result of an update that is not settled.
fn result(outcome: Unsettled) -> LdapResult {
    let (code, text) = match outcome {
        Unsettled::Busy => (ResultCode::Busy, "the cluster takes no updates now"),
        Unsettled::TooLong => (
            ResultCode::UnwillingToPerform,
            "the update is too long for the cluster",
        ),
        Unsettled::Unread => (
            ResultCode::UnwillingToPerform,
            "the sequencer of the cluster cannot read this update: do all nodes have one version?",
        ),
        Unsettled::Recorded(0) => return LdapResult::success(),
        Unsettled::Recorded(code) => (
            ResultCode::from_number(code),
            "the update was refused, and the sequencer's reason is lost",
        ),
        Unsettled::Unknown => (
            ResultCode::Unavailable,
            "the cluster does not answer: the update may be done or not",
        ),
    };
    refuse(code, text)
}

impl OrderedDirectory for Directory {
    fn schema(&self) -> &Arc<Schema> {
        self.schema()
    }

    fn unsettled(&self, request: &WriteRequest, outcome: Unsettled) -> WriteReply {
        let result = match outcome {
            Unsettled::Recorded(_) if request.is_bind() => result(Unsettled::Unknown),
            Unsettled::Recorded(0) if request.returns_entries() => refuse(
                ResultCode::Unavailable,
                "the update is done, and the entry that its answer had is lost",
            ),
            outcome => result(outcome),
        };
        self.refused_reply(request, result)
    }
}
