//! Damage to messages.

use super::corpus::{corpus, deep_filter, nested_sequences};
use super::random::Random;
use super::tree;

/// Octets that mean something at the edge of a rule: tags, length forms, ends of ranges.
const INTERESTING: [u8; 16] = [
    0x00, 0x01, 0x02, 0x04, 0x0a, 0x1f, 0x30, 0x31, 0x7f, 0x80, 0x81, 0x82, 0x84, 0x85, 0xa0, 0xff,
];

/// Gives one message after the other, most of them damaged; never ends.
#[derive(Debug, Clone)]
pub struct Mutator {
    random: Random,
    corpus: Vec<Vec<u8>>,
}

impl Mutator {
    /// Begins the sequence of `seed`, over [`corpus`].
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::over(seed, corpus())
    }

    /// Begins the sequence of `seed` over other messages.
    ///
    /// # Panics
    /// If there are none.
    #[must_use]
    pub fn over(seed: u64, corpus: Vec<Vec<u8>>) -> Self {
        assert!(!corpus.is_empty(), "there must be something to damage");
        Mutator {
            random: Random::new(seed),
            corpus,
        }
    }

    /// The next message.
    #[must_use]
    pub fn next_message(&mut self) -> Vec<u8> {
        let mut pdu = self.random.pick(&self.corpus).clone();
        match self.random.below(100) {
            0..=9 => return pdu,
            10..=11 => return self.noise(),
            12 => return self.bomb(),
            13..=69 => {
                let other = self.random.below(self.corpus.len());
                return tree::change(&pdu, &self.corpus[other], &mut self.random);
            }
            _ => {}
        }
        for _ in 0..1 + self.random.below(4) {
            self.damage(&mut pdu);
        }
        // With a true outer length the damage reaches the decoder of the body, and the connection
        // may go on; without, it is the framing that is tested.
        if !self.random.one_in(4) {
            set_outer_length(&mut pdu);
        }
        pdu
    }

    fn damage(&mut self, pdu: &mut Vec<u8>) {
        let kind = self.random.below(10);
        let len = pdu.len();
        let at = self.random.below(len);
        match kind {
            _ if len == 0 => pdu.push(self.random.octet()),
            0 | 1 => pdu[at] ^= 1 << self.random.below(8),
            2 => pdu[at] = *self.random.pick(&INTERESTING),
            3 | 4 => self.lie_about_length(pdu),
            5 => pdu.truncate(at),
            6 => {
                pdu.drain(at..(at + 1 + self.random.below(8)).min(len));
            }
            7 => {
                let octets: Vec<u8> = (0..1 + self.random.below(8))
                    .map(|_| self.random.octet())
                    .collect();
                pdu.splice(at..at, octets);
            }
            8 => self.splice(pdu, at),
            _ => {
                let copy = pdu[at..(at + 1 + self.random.below(40)).min(len)].to_vec();
                pdu.splice(at..at, copy);
            }
        }
    }

    /// Changes the length octet of some element.
    fn lie_about_length(&mut self, pdu: &mut [u8]) {
        let lengths = length_positions(pdu);
        if lengths.is_empty() {
            return;
        }
        let octet = &mut pdu[*self.random.pick(&lengths)];
        *octet = match self.random.below(4) {
            0 => octet.wrapping_add(1),
            1 => octet.wrapping_sub(1),
            2 => *self.random.pick(&[0x80, 0x81, 0x82, 0x84, 0x85, 0xff]),
            _ => self.random.octet(),
        };
    }

    /// Continues the message with the end of another one.
    fn splice(&mut self, pdu: &mut Vec<u8>, at: usize) {
        let other = self.random.pick(&self.corpus).clone();
        let from = self.random.below(other.len());
        pdu.truncate(at);
        pdu.extend_from_slice(&other[from..]);
    }

    fn noise(&mut self) -> Vec<u8> {
        (0..1 + self.random.below(64))
            .map(|_| self.random.octet())
            .collect()
    }

    /// A message that nests as deep as a small message can.
    fn bomb(&mut self) -> Vec<u8> {
        let depth = *self.random.pick(&[50, 999, 1000, 1001, 5000]);
        if self.random.one_in(4) {
            nested_sequences(depth)
        } else {
            deep_filter(depth)
        }
    }
}

impl Iterator for Mutator {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        Some(self.next_message())
    }
}

/// Where the (first) length octets of a message's elements are, as far as it can be read.
fn length_positions(pdu: &[u8]) -> Vec<usize> {
    let mut positions = Vec::new();
    let mut at = 0;
    while let (Some(&tag), Some(&length)) = (pdu.get(at), pdu.get(at + 1)) {
        positions.push(at + 1);
        let header = if length < 0x80 {
            2
        } else {
            2 + usize::from(length & 0x7f)
        };
        let constructed = tag & 0x20 != 0;
        let content = if constructed || length >= 0x80 {
            0
        } else {
            usize::from(length)
        };
        at += header + content;
    }
    positions
}

/// Makes the outer length true: one message, by its frame.
fn set_outer_length(pdu: &mut Vec<u8>) {
    let Some(&length) = pdu.get(1) else { return };
    let header = if length < 0x80 {
        2
    } else {
        2 + usize::from(length & 0x7f)
    };
    let content = pdu.split_off(header.min(pdu.len()));
    let len = u32::try_from(content.len())
        .unwrap_or(u32::MAX)
        .to_be_bytes();
    pdu.clear();
    if content.len() < 0x80 {
        pdu.extend_from_slice(&[0x30, len[3]]);
    } else {
        pdu.extend_from_slice(&[0x30, 0x84, len[0], len[1], len[2], len[3]]);
    }
    pdu.extend_from_slice(&content);
}
