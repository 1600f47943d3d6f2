//! The clients that wait, by the numbers of their updates and reads.

use std::collections::BTreeMap;

use fulgurite_cluster::{Outcome, Position};

use crate::inbox::Reply;

/// The clients that wait.
pub(crate) struct Waiters<A> {
    updates: BTreeMap<u64, Reply<Outcome<A>>>,
    reads: BTreeMap<u64, Reply<Option<Position>>>,
    last: u64,
}

impl<A> Waiters<A> {
    /// Returns no waiters. Numbers begin behind a random one, so that no two lives share them.
    pub(crate) fn new(life: [u8; 8]) -> Waiters<A> {
        Waiters {
            updates: BTreeMap::new(),
            reads: BTreeMap::new(),
            last: u64::from_le_bytes(life) & !u64::from(u32::MAX),
        }
    }

    pub(crate) fn update(&mut self, reply: Reply<Outcome<A>>) -> u64 {
        let number = self.next();
        self.updates.insert(number, reply);
        number
    }

    pub(crate) fn read(&mut self, reply: Reply<Option<Position>>) -> u64 {
        let number = self.next();
        self.reads.insert(number, reply);
        number
    }

    pub(crate) fn answer(&mut self, number: u64, outcome: Outcome<A>) {
        if let Some(reply) = self.updates.remove(&number) {
            reply.give(outcome);
        }
    }

    pub(crate) fn serve(&mut self, number: u64, position: Option<Position>) {
        if let Some(reply) = self.reads.remove(&number) {
            reply.give(position);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.updates.len() + self.reads.len()
    }

    fn next(&mut self) -> u64 {
        self.last = self.last.wrapping_add(1);
        self.last
    }
}
