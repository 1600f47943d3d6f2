//! An update and its answer, as they go through the driver and to other nodes.

use std::borrow::Cow;
use std::sync::Arc;

use fulgurite_cluster_peers::{FrameError, Wire};
use fulgurite_directory::{OrderedReply, WireError, WriteRequest};
use fulgurite_ldap::ResultCode;
use fulgurite_schema::Schema;

/// An update.
#[derive(Debug)]
pub(crate) enum ClusterUpdate {
    /// Of a client of this node, with the schema of its names.
    Own(Box<WriteRequest>, Arc<Schema>),
    /// Of a client of another node.
    Message(Vec<u8>),
}

/// An answer.
#[derive(Debug)]
pub(crate) enum ClusterAnswer {
    /// The reply of the sequencer.
    Reply(Box<OrderedReply>),
    /// The sequencer cannot read the update, and has not done it.
    Unread,
}

impl ClusterUpdate {
    /// Returns the update with the names of a schema.
    pub(super) fn request(&self, schema: &Arc<Schema>) -> Result<Cow<'_, WriteRequest>, WireError> {
        match self {
            ClusterUpdate::Own(request, own) if Arc::ptr_eq(own, schema) => {
                Ok(Cow::Borrowed(request))
            }
            // The definitions have changed on the way.
            ClusterUpdate::Own(request, own) => {
                WriteRequest::from_wire(schema, &request.to_wire(own)).map(Cow::Owned)
            }
            ClusterUpdate::Message(bytes) => WriteRequest::from_wire(schema, bytes).map(Cow::Owned),
        }
    }
}

impl ClusterAnswer {
    /// Returns the code of the result.
    pub(super) fn code(&self) -> u32 {
        match self {
            ClusterAnswer::Reply(reply) => reply.code(),
            ClusterAnswer::Unread => ResultCode::UnwillingToPerform.number(),
        }
    }
}

impl Wire for ClusterUpdate {
    fn to_bytes(&self) -> Vec<u8> {
        match self {
            ClusterUpdate::Own(request, schema) => request.to_wire(schema),
            ClusterUpdate::Message(bytes) => bytes.clone(),
        }
    }

    /// The sequencer reads it when it has the schema.
    fn from_bytes(bytes: &[u8]) -> Result<ClusterUpdate, FrameError> {
        Ok(ClusterUpdate::Message(bytes.to_vec()))
    }
}

impl Wire for ClusterAnswer {
    fn to_bytes(&self) -> Vec<u8> {
        match self {
            ClusterAnswer::Unread => Vec::new(),
            ClusterAnswer::Reply(reply) => reply.to_wire(),
        }
    }

    fn from_bytes(bytes: &[u8]) -> Result<ClusterAnswer, FrameError> {
        if bytes.is_empty() {
            return Ok(ClusterAnswer::Unread);
        }
        let reply = OrderedReply::from_wire(bytes).map_err(|_| FrameError::Content)?;
        Ok(ClusterAnswer::Reply(Box::new(reply)))
    }
}
