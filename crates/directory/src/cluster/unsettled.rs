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
        self.refused_reply(request, result(outcome))
    }
}
