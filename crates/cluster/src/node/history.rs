//! The sizes and times of the last batches, which decide about the trim.

use std::collections::VecDeque;

use crate::rules::TrimFacts;
use crate::values::Position;

use super::settings::LogKeep;

/// The end of some batches.
#[derive(Clone, Copy, Debug)]
struct Mark {
    position: Position,
    applied_ms: u64,
    /// Bytes of all batches up to here.
    bytes: u64,
}

/// The batches that this life of the node has applied, in steps of a 600th of what is kept. It
/// knows no earlier ones, so the log keeps these a while longer.
#[derive(Debug)]
pub(super) struct History {
    keep: LogKeep,
    marks: VecDeque<Mark>,
    last: Mark,
}

impl History {
    pub(super) fn new(keep: LogKeep) -> History {
        History {
            keep,
            marks: VecDeque::new(),
            last: Mark {
                position: Position(0),
                applied_ms: 0,
                bytes: 0,
            },
        }
    }

    /// Notes a batch.
    pub(super) fn push(&mut self, position: Position, bytes: usize, now_ms: u64) {
        self.last = Mark {
            position,
            applied_ms: now_ms,
            bytes: self.last.bytes + bytes as u64,
        };
        let is_near = self.marks.back().is_some_and(|mark| {
            now_ms < mark.applied_ms + self.keep.age_ms / 600
                && self.last.bytes < mark.bytes + self.keep.bytes / 600
        });
        if !is_near {
            self.marks.push_back(self.last);
        }
    }

    /// Returns the facts for a trim, and forgets the batches that are too many for any log.
    pub(super) fn facts(&mut self, end: Position, now_ms: u64) -> TrimFacts {
        let (keep, last) = (self.keep, self.last);
        let is_old = |mark: &&Mark| {
            now_ms >= mark.applied_ms + keep.age_ms && last.bytes >= mark.bytes + keep.bytes
        };
        let is_excess = |mark: &&Mark| last.bytes >= mark.bytes + keep.bytes_max;
        let at = |mark: &Mark| mark.position;
        let old = self.marks.iter().rev().find(is_old);
        let old = old.map_or(Position(0), at);
        let excess = self.marks.iter().take_while(is_excess).count();
        let excess = self.marks.drain(..excess).next_back();
        let excess = excess.as_ref().map_or(Position(0), at);
        TrimFacts {
            old: old.max(excess),
            excess,
            end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_keeps_the_young_and_the_last() {
        let mut history = History::new(LogKeep {
            age_ms: 100,
            bytes: 1000,
            bytes_max: 3000,
        });
        for position in 1..=40 {
            history.push(Position(position), 100, position * 10);
        }
        let end = Position(40);
        let facts = history.facts(end, 400);
        // The last ten batches are young, and have the bytes to keep.
        assert_eq!((facts.old, facts.excess), (Position(30), Position(10)));
        // They do not grow old by bytes alone, nor by time alone.
        assert_eq!(history.facts(end, 9000).old, Position(30));
        history.push(Position(41), 2000, 9000);
        assert_eq!(history.facts(end, 9000).old, Position(40));
        assert_eq!(history.facts(end, 9000).end, end);
    }
}
