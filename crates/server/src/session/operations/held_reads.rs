//! Reads that wait until the node of a cluster has a state.
//!
//! ```text
//!   begin --gate_read--> held --Job::AwaitState--> the handler --state_reached--> ready --next turn--> begun
//! ```

use fulgurite_ldap::{LdapResult, MessageId, Operation};

use crate::session::job::CheckId;

/// A read that waits, with what belongs to its beginning.
pub(super) struct HeldRead<B> {
    pub(super) number: CheckId,
    pub(super) id: MessageId,
    pub(super) operation: Operation,
    pub(super) pdu: Box<[u8]>,
    /// True if its result tells the position.
    pub(super) tells: bool,
    pub(super) begun: B,
}

/// The end of a wait: the state is here, or a refusal.
type Reached = Result<(), LdapResult>;

/// The reads that wait, in the order of their arrival.
pub(super) struct HeldReads<B>(Vec<(HeldRead<B>, Option<Reached>)>);

impl<B> HeldReads<B> {
    pub(super) fn new() -> HeldReads<B> {
        HeldReads(Vec::new())
    }

    pub(super) fn push(&mut self, read: HeldRead<B>) {
        self.0.push((read, None));
    }

    /// Notes the end of a wait.
    pub(super) fn reach(&mut self, number: CheckId, reached: Reached) {
        let mut held = self.0.iter_mut();
        if let Some((_, end)) = held.find(|(read, _)| read.number == number) {
            *end = Some(reached);
        }
    }

    /// Takes the first read whose wait has ended.
    pub(super) fn take_reached(&mut self) -> Option<(HeldRead<B>, Reached)> {
        let at = self.0.iter().position(|(_, reached)| reached.is_some())?;
        let (read, reached) = self.0.remove(at);
        reached.map(|reached| (read, reached))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn contains(&self, id: MessageId) -> bool {
        self.0.iter().any(|(read, _)| read.id == id)
    }

    pub(super) fn first(&self) -> Option<MessageId> {
        self.0.first().map(|(read, _)| read.id)
    }

    /// Takes back a read that is abandoned. The end of its wait has no effect then.
    pub(super) fn remove(&mut self, id: MessageId) -> Option<(Operation, B)> {
        let at = self.0.iter().position(|(read, _)| read.id == id)?;
        let (read, _) = self.0.remove(at);
        Some((read.operation, read.begun))
    }
}
