//! The order in which a worker serves its connections.
//!
//! ```text
//!   something has come ---> fresh ----\
//!                                      next() ---> one turn: a bounded amount of work
//!   not done yet ---------> unfinished /
//! ```
//!
//! A round serves each fresh connection once. Then the unfinished connections get as much work as
//! the fresh ones took, at least one turn. So a short request waits for one turn of one busy
//! connection, no matter how many are busy. And many short requests leave half of the worker to the
//! long ones.

use std::collections::VecDeque;

use super::inbox::ConnectionId;

/// Connections that wait for a turn.
#[derive(Debug, Default)]
pub(super) struct RunQueue {
    fresh: VecDeque<ConnectionId>,
    unfinished: VecDeque<ConnectionId>,
    /// Fresh connections left in this round; those that arrive during it belong to the next.
    fresh_left: usize,
    /// Work that the unfinished connections may do in this round.
    owed: usize,
    serves_fresh: bool,
}

impl RunQueue {
    /// Returns true if no connection waits.
    pub(super) fn is_empty(&self) -> bool {
        self.fresh.is_empty() && self.unfinished.is_empty()
    }

    /// Adds a connection that has received something and was not waiting.
    pub(super) fn push_fresh(&mut self, id: ConnectionId) {
        self.fresh.push_back(id);
    }

    /// Adds a connection that has had its turn and needs another.
    pub(super) fn push_unfinished(&mut self, id: ConnectionId) {
        self.unfinished.push_back(id);
    }

    /// Begins a round.
    pub(super) fn begin_round(&mut self) {
        self.fresh_left = self.fresh.len();
        self.owed = 1;
    }

    /// Returns the next connection of this round.
    pub(super) fn next(&mut self) -> Option<ConnectionId> {
        if self.fresh_left > 0 {
            self.fresh_left -= 1;
            self.serves_fresh = true;
            return self.fresh.pop_front();
        }
        self.serves_fresh = false;
        (self.owed > 0)
            .then(|| self.unfinished.pop_front())
            .flatten()
    }

    /// Records the work of the turn that [`RunQueue::next`] gave.
    pub(super) fn worked(&mut self, work: usize) {
        self.owed = if self.serves_fresh {
            self.owed.saturating_add(work)
        } else {
            self.owed.saturating_sub(work.max(1))
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs one round in which each turn does `work(id)`. Returns the connections in the order of
    /// their turns.
    fn round(turns: &mut RunQueue, work: impl Fn(ConnectionId) -> usize) -> Vec<ConnectionId> {
        turns.begin_round();
        let mut served = Vec::new();
        while let Some(id) = turns.next() {
            turns.worked(work(id));
            served.push(id);
        }
        served
    }

    #[test]
    fn a_fresh_connection_waits_for_one_unfinished_turn() {
        let mut turns = RunQueue::default();
        (1..=30).for_each(|id| turns.push_unfinished(id));
        assert_eq!(round(&mut turns, |_| 1024), [1]);
        turns.push_unfinished(1);
        turns.push_fresh(99);
        assert_eq!(
            round(&mut turns, |id| if id == 99 { 8 } else { 1024 }),
            [99, 2]
        );
        assert!(!turns.is_empty());
    }

    #[test]
    fn unfinished_connections_get_as_much_work_as_fresh_ones() {
        let mut turns = RunQueue::default();
        (1..=5).for_each(|id| turns.push_unfinished(id));
        (11..=14).for_each(|id| turns.push_fresh(id));
        // Four turns of 500 for those that came: the others have 2001 units, in turns of 700 each.
        let work = |id| if id > 10 { 500 } else { 700 };
        assert_eq!(round(&mut turns, work), [11, 12, 13, 14, 1, 2, 3]);
    }

    #[test]
    fn a_round_of_turns_without_work_ends() {
        let mut turns = RunQueue::default();
        (1..=3).for_each(|id| turns.push_unfinished(id));
        (11..=13).for_each(|id| turns.push_fresh(id));
        assert_eq!(round(&mut turns, |_| 0), [11, 12, 13, 1]);
        assert_eq!(round(&mut turns, |_| 0), [2]);
        assert_eq!(round(&mut turns, |_| 0), [3]);
        assert!(turns.is_empty());
    }
}
