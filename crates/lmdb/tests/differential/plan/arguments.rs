//! Random arguments of steps.

use super::Planner;
use crate::profile::{Database, EMPTY, HUGE, OTHER_SIZE, SEQUENCE, TOO_LONG, ValueKind};
use crate::step::{NullArgument, READERS, TXNS, Value, WRITERS};

impl Planner<'_> {
    pub(super) fn key(&mut self, spec: &Database) -> u32 {
        match self.random.below(100) {
            0 => *self.random.pick(&[EMPTY, TOO_LONG]),
            1..=9 => SEQUENCE + self.random.below((self.sequence - SEQUENCE) as usize + 2) as u32,
            _ => self.random.below(spec.key_pool as usize) as u32,
        }
    }

    pub(super) fn value(&mut self, spec: &Database) -> Value {
        let len = match self.random.below(100) {
            0..=4 => 0,
            5..=54 => self.random.between(1, 30),
            55..=74 => self.random.between(31, 600),
            75..=84 => self.random.between(1900, 2100),
            85..=89 => self.random.between(3900, 4200),
            _ => self.random.between(601, 10_000),
        };
        let id = match (self.random.below(600), spec.values) {
            (0, _) => HUGE,
            (1..=6, ValueKind::Bytes | ValueKind::Fixed(_) | ValueKind::Integer(_)) => {
                *self.random.pick(&[EMPTY, TOO_LONG])
            }
            (7..=15, ValueKind::Fixed(_)) => OTHER_SIZE,
            (16..=60, _) => SEQUENCE + self.random.below(300) as u32,
            _ => self.random.below(spec.value_pool as usize) as u32,
        };
        Value {
            id,
            len: len as u32,
        }
    }

    pub(super) fn missing(&mut self) -> NullArgument {
        if self.random.chance(97) {
            return NullArgument::None;
        }
        *self
            .random
            .pick(&[NullArgument::Key, NullArgument::Data, NullArgument::Both])
    }

    /// A database; rarely the main one if there are named ones.
    pub(super) fn db(&mut self) -> usize {
        let count = self.profile.databases.len();
        if count > 1 && self.random.chance(90) {
            1 + self.random.below(count - 1)
        } else {
            0
        }
    }

    /// The deepest writer, open or not.
    pub(super) fn writer(&self) -> usize {
        self.depth.saturating_sub(1)
    }

    /// Where a change is tried: mostly the deepest writer, sometimes a blocked parent or a reader.
    pub(super) fn writing(&mut self) -> usize {
        if self.random.chance(96) {
            self.writer()
        } else {
            self.random.below(TXNS)
        }
    }

    /// Any transaction, mostly one that is open.
    pub(super) fn txn(&mut self) -> usize {
        match self.random.below(100) {
            0..=2 => self.random.below(TXNS),
            3..=29 => {
                let open: Vec<usize> = (0..READERS).filter(|&r| self.readers[r]).collect();
                if open.is_empty() {
                    self.writer()
                } else {
                    WRITERS + *self.random.pick(&open)
                }
            }
            _ => self.writer(),
        }
    }
}
