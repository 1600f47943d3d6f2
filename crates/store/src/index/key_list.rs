//! Keys of several postings in one buffer.

use super::key;
use crate::ids::AttributeId;

/// Keys of postings, in the order in which they were added.
#[derive(Debug)]
pub(crate) struct KeyList {
    bytes: Vec<u8>,
    /// The end of each key in `bytes`.
    ends: Vec<usize>,
}

impl KeyList {
    /// Makes an empty list with memory for a number of keys, and for the bytes of their values.
    pub(crate) fn with_capacity(keys: usize, value_bytes: usize) -> KeyList {
        KeyList {
            bytes: Vec::with_capacity(keys * key::FRAME_LEN + value_bytes),
            ends: Vec::with_capacity(keys),
        }
    }

    /// Adds the key of a posting.
    pub(crate) fn push(&mut self, attribute: AttributeId, code: u8, value: &[u8]) {
        key::append_posting(&mut self.bytes, attribute, code, value);
        self.ends.push(self.bytes.len());
    }

    /// Returns the number of keys.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the key at a position.
    pub(crate) fn get(&self, position: usize) -> Option<&[u8]> {
        let end = *self.ends.get(position)?;
        let before = position.checked_sub(1);
        let start = before.and_then(|before| self.ends.get(before));
        self.bytes.get(start.copied().unwrap_or(0)..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_list_are_those_of_their_postings() {
        let values = [&b"abc"[..], b"", &[0, 1, 2], &[b'x'; 70], b"z"];
        let mut list = KeyList::with_capacity(2, 4);
        assert!(list.is_empty());
        for value in values {
            list.push(AttributeId(7), b'=', value);
        }
        assert_eq!(list.len(), values.len());
        for (position, value) in values.into_iter().enumerate() {
            let mut expected = Vec::new();
            key::posting(&mut expected, AttributeId(7), b'=', value);
            assert_eq!(list.get(position), Some(expected.as_slice()));
        }
        assert_eq!(list.get(values.len()), None);
    }
}
