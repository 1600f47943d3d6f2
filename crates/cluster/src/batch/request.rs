//! The requests that a batch settles.

use super::bytes::{Reader, put_number};
use super::malformed::Malformed;
use crate::values::NodeId;

/// An update of another node's client, which a batch settles. So that node finds the outcome in the
/// log if the sequencer's answer is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestMark {
    /// The node of the client.
    pub node: NodeId,
    /// The number that this node gave the update.
    pub number: u64,
    /// The code of the result; 0 is success.
    pub code: u32,
}

impl RequestMark {
    pub(super) fn encode_all(all: &[RequestMark], out: &mut Vec<u8>) {
        put_number(out, all.len() as u64);
        for mark in all {
            for number in [mark.node.0, mark.number, u64::from(mark.code)] {
                put_number(out, number);
            }
        }
    }

    pub(super) fn decode_all(reader: &mut Reader<'_>) -> Result<Vec<RequestMark>, Malformed> {
        let count = reader.count()?;
        let one = |_| {
            let (node, number) = (NodeId(reader.number()?), reader.number()?);
            let code = u32::try_from(reader.number()?).map_err(|_| Malformed::Number)?;
            Ok(RequestMark { node, number, code })
        };
        (0..count).map(one).collect()
    }
}
