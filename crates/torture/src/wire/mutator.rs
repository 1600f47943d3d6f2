//! Damage to the bytes of messages.

use fulgurite_testkit::Random;

use super::corpus::{corpus, deep_filter, nested_sequences};
use super::tree;

/// Bytes at the edge of a rule: tags, length forms, ends of ranges.
const INTERESTING: [u8; 16] = [
    0x00, 0x01, 0x02, 0x04, 0x0a, 0x1f, 0x30, 0x31, 0x7f, 0x80, 0x81, 0x82, 0x84, 0x85, 0xa0, 0xff,
];

/// An endless sequence of messages, most of them damaged.
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
    /// Panics if there are none.
    #[must_use]
    pub fn over(seed: u64, corpus: Vec<Vec<u8>>) -> Self {
        assert!(!corpus.is_empty(), "the corpus must not be empty");
        Mutator {
            random: Random::new(seed),
            corpus,
        }
    }

    /// Returns the next message.
    #[must_use]
    pub fn next_message(&mut self) -> Vec<u8> {
        let mut pdu = self.random.pick(&self.corpus).clone();
        match self.random.below(100) {
            0..=9 => return pdu,
            10..=11 => return self.noise(),
            12 => return self.nesting_bomb(),
            13..=69 => {
                let other = self.random.below(self.corpus.len());
                return tree::change(&pdu, &self.corpus[other], &mut self.random);
            }
            _ => {}
        }
        for _ in 0..1 + self.random.below(4) {
            self.damage(&mut pdu);
        }
        // A correct outer length lets the damage reach the decoder of the body. A wrong one tests
        // the framing.
        if !one_in(&mut self.random, 4) {
            set_outer_length(&mut pdu);
        }
        pdu
    }

    fn damage(&mut self, pdu: &mut Vec<u8>) {
        let kind = self.random.below(10);
        let len = pdu.len();
        let at = self.random.below(len);
        match kind {
            _ if len == 0 => pdu.push(byte(&mut self.random)),
            0 | 1 => pdu[at] ^= 1 << self.random.below(8),
            2 => pdu[at] = *self.random.pick(&INTERESTING),
            3 | 4 => self.corrupt_length(pdu),
            5 => pdu.truncate(at),
            6 => {
                pdu.drain(at..(at + 1 + self.random.below(8)).min(len));
            }
            7 => {
                let bytes: Vec<u8> = (0..1 + self.random.below(8))
                    .map(|_| byte(&mut self.random))
                    .collect();
                pdu.splice(at..at, bytes);
            }
            8 => self.splice(pdu, at),
            _ => {
                let copy = pdu[at..(at + 1 + self.random.below(40)).min(len)].to_vec();
                pdu.splice(at..at, copy);
            }
        }
    }

    /// Changes the length byte of a random element.
    fn corrupt_length(&mut self, pdu: &mut [u8]) {
        let lengths = length_positions(pdu);
        if lengths.is_empty() {
            return;
        }
        let length = &mut pdu[*self.random.pick(&lengths)];
        *length = match self.random.below(4) {
            0 => length.wrapping_add(1),
            1 => length.wrapping_sub(1),
            2 => *self.random.pick(&[0x80, 0x81, 0x82, 0x84, 0x85, 0xff]),
            _ => byte(&mut self.random),
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
            .map(|_| byte(&mut self.random))
            .collect()
    }

    /// Returns a message with deep nesting.
    fn nesting_bomb(&mut self) -> Vec<u8> {
        let depth = *self.random.pick(&[50, 999, 1000, 1001, 5000]);
        if one_in(&mut self.random, 4) {
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

/// Returns the positions of the first length byte of each element, as far as they are readable.
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

/// Sets the outer length to the actual length.
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

/// Returns a random byte.
fn byte(random: &mut Random) -> u8 {
    random.bits().to_le_bytes()[0]
}

/// Returns true once in `times`.
fn one_in(random: &mut Random, times: usize) -> bool {
    random.below(times) == 0
}
