//! No log: a single node, which is its own sequencer.

use std::cell::Cell;

use crate::log::{
    AppendOutcome, ChangeLog, Leadership, LeaseId, NodeState, ReadOutcome, Refusal, Unavailable,
};
use crate::values::{Epoch, Head, NodeId, Position};

/// The log of a single node. It keeps no batches, only their end, which the store remembers.
///
/// Nobody else can append, so every call succeeds. The commit of the store decides.
#[derive(Debug)]
pub struct Alone(Cell<Head>);

impl Alone {
    const EPOCH: Epoch = Epoch(1);

    /// Returns the log behind what the store has.
    #[must_use]
    pub fn new(stored: Head) -> Alone {
        Alone(Cell::new(stored))
    }
}

impl ChangeLog for Alone {
    fn append(&self, epoch: Epoch, before: &Head, after: &Head, _: &[u8]) -> AppendOutcome {
        let end = self.0.get().position;
        if epoch != Self::EPOCH || *before != self.0.get() {
            return AppendOutcome::Refused(Refusal {
                leader: Some(Self::EPOCH),
                end,
                present: None,
            });
        }
        self.0.set(*after);
        AppendOutcome::Appended
    }

    /// Returns no batch: the append has applied all of them.
    fn read(&self, from: Position, _: usize) -> ReadOutcome {
        match self.0.get().position.next() {
            first if from < first => ReadOutcome::Trimmed { first },
            _ => ReadOutcome::Batches(Vec::new()),
        }
    }

    fn end(&self) -> Result<Head, Unavailable> {
        Ok(self.0.get())
    }

    fn grant(&self, _: u64) -> Result<LeaseId, Unavailable> {
        Ok(LeaseId(1))
    }

    fn renew(&self, _: LeaseId) -> Result<bool, Unavailable> {
        Ok(true)
    }

    fn lead(&self, _: LeaseId, _: NodeId) -> Result<Leadership, Unavailable> {
        Ok(Leadership::Leading(Self::EPOCH))
    }

    fn resign(&self, _: Epoch) -> Result<(), Unavailable> {
        Ok(())
    }

    fn publish(&self, _: LeaseId, _: &NodeState) -> Result<(), Unavailable> {
        Ok(())
    }

    fn nodes(&self) -> Result<Vec<NodeState>, Unavailable> {
        Ok(Vec::new())
    }

    fn trim(&self, _: Epoch, _: Position) -> Result<(), Unavailable> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_node_appends_in_order() {
        let head = |position| Head {
            position: Position(position),
            ..Head::default()
        };
        let log = Alone::new(head(4));
        let Ok(Leadership::Leading(epoch)) = log.lead(LeaseId(1), NodeId(1)) else {
            panic!("a single node leads");
        };
        assert_eq!(
            log.append(epoch, &head(4), &head(5), b""),
            AppendOutcome::Appended
        );
        assert_eq!(log.end(), Ok(head(5)));
        let again = log.append(epoch, &head(4), &head(5), b"");
        assert!(matches!(again, AppendOutcome::Refused(_)));
        let first = Position(6);
        assert_eq!(log.read(Position(5), 1), ReadOutcome::Trimmed { first });
        assert_eq!(log.read(first, 1), ReadOutcome::Batches(vec![]));
    }
}
