//! The keys of a range.

use core::ops::{Bound, Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use fulgurite_format::KEY_LEN_MAX;

use crate::boxed_error::BoxedError;
use crate::{Error, KeyOrder};

/// A range of keys, in the order of its database.
///
/// It is any of Rust's ranges over byte strings, such as `..`, `low..high` or `low..=high`, or a
/// pair of [`Bound`]s. A range that ends before it begins is empty.
pub trait KeyRange {
    /// Returns the lower bound.
    fn low(&self) -> Bound<&[u8]>;
    /// Returns the upper bound.
    fn high(&self) -> Bound<&[u8]>;
}

impl KeyRange for RangeFull {
    fn low(&self) -> Bound<&[u8]> {
        Bound::Unbounded
    }

    fn high(&self) -> Bound<&[u8]> {
        Bound::Unbounded
    }
}

macro_rules! key_range {
    ($range:ty, $range_value:ident => $low:expr, $high:expr) => {
        impl<K: AsRef<[u8]>> KeyRange for $range {
            fn low(&self) -> Bound<&[u8]> {
                let $range_value = self;
                $low
            }

            fn high(&self) -> Bound<&[u8]> {
                let $range_value = self;
                $high
            }
        }
    };
}

key_range!(Range<K>, range => Bound::Included(range.start.as_ref()), Bound::Excluded(range.end.as_ref()));
key_range!(RangeInclusive<K>, range => Bound::Included(range.start().as_ref()), Bound::Included(range.end().as_ref()));
key_range!(RangeFrom<K>, range => Bound::Included(range.start.as_ref()), {
    let _ = range;
    Bound::Unbounded
});
key_range!(RangeTo<K>, range => {
    let _ = range;
    Bound::Unbounded
}, Bound::Excluded(range.end.as_ref()));
key_range!(RangeToInclusive<K>, range => {
    let _ = range;
    Bound::Unbounded
}, Bound::Included(range.end.as_ref()));
key_range!((Bound<K>, Bound<K>), range => bound_of(&range.0), bound_of(&range.1));

fn bound_of<K: AsRef<[u8]>>(bound: &Bound<K>) -> Bound<&[u8]> {
    match bound {
        Bound::Included(key) => Bound::Included(key.as_ref()),
        Bound::Excluded(key) => Bound::Excluded(key.as_ref()),
        Bound::Unbounded => Bound::Unbounded,
    }
}

/// A gap between two entries, before the first or after the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gap<'k> {
    /// The end of the tree on that side.
    Edge,
    /// Before this key, or before its successor if there is no such key.
    Before(&'k [u8]),
    /// After this key, or before its successor if there is no such key.
    After(&'k [u8]),
}

impl<'k> Gap<'k> {
    pub(crate) fn low(bound: Bound<&'k [u8]>) -> Gap<'k> {
        match bound {
            Bound::Included(key) => Gap::Before(key),
            Bound::Excluded(key) => Gap::After(key),
            Bound::Unbounded => Gap::Edge,
        }
    }

    pub(crate) fn high(bound: Bound<&'k [u8]>) -> Gap<'k> {
        match bound {
            Bound::Included(key) => Gap::After(key),
            Bound::Excluded(key) => Gap::Before(key),
            Bound::Unbounded => Gap::Edge,
        }
    }
}

/// The first key after all keys with a prefix.
#[derive(Debug)]
pub(crate) struct PrefixEnd {
    bytes: [u8; KEY_LEN_MAX],
    start: usize,
    end: usize,
}

impl PrefixEnd {
    /// Returns the end of a prefix, in orders that compare bytes. Fails if the prefix is longer
    /// than a key can be.
    ///
    /// The reverse order sorts keys with a common *end* together, so there a prefix means that end.
    pub(crate) fn prefix(order: KeyOrder, prefix: &[u8]) -> Result<PrefixEnd, BoxedError> {
        let mut end = PrefixEnd {
            bytes: [0; KEY_LEN_MAX],
            start: 0,
            end: prefix.len(),
        };
        let Some(bytes) = end.bytes.get_mut(..prefix.len()) else {
            return Err(Error::KeyLength {
                len: prefix.len(),
                max: KEY_LEN_MAX,
            }
            .into());
        };
        bytes.copy_from_slice(prefix);
        // The last compared byte that can grow is incremented; those after it are dropped.
        let grows = |byte: &u8| *byte < u8::MAX;
        match order {
            KeyOrder::Lexical => {
                end.end = bytes.iter().rposition(grows).map_or(0, |at| at + 1);
                if let Some(last) = bytes.get_mut(..end.end).and_then(<[u8]>::last_mut) {
                    *last += 1;
                }
            }
            KeyOrder::Reverse => {
                end.start = bytes.iter().position(grows).unwrap_or(prefix.len());
                if let Some(first) = bytes.get_mut(end.start..).and_then(<[u8]>::first_mut) {
                    *first += 1;
                }
            }
            KeyOrder::Integer | KeyOrder::PackedInteger | KeyOrder::Custom(_) => {
                return Err(Error::NoPrefixes.into());
            }
        }
        Ok(end)
    }

    /// Returns the gap where the keys with the prefix end.
    pub(crate) fn gap(&self) -> Gap<'_> {
        match self.bytes.get(self.start..self.end) {
            Some(key) if !key.is_empty() => Gap::Before(key),
            _ => Gap::Edge,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_before_its_incremented_last_byte() {
        let lexical: [(&[u8], &[u8]); 4] = [
            (b"a", b"b"),
            (b"a\xff\xff", b"b"),
            (b"a\xff\x00", b"a\xff\x01"),
            (b"\xff\xff", b""),
        ];
        for (prefix, behind) in lexical {
            let reversed: Vec<u8> = prefix.iter().rev().copied().collect();
            let reversed_behind: Vec<u8> = behind.iter().rev().copied().collect();
            let cases = [
                (KeyOrder::Lexical, prefix, behind),
                (KeyOrder::Reverse, &reversed, &reversed_behind),
            ];
            for (order, prefix, behind) in cases {
                let found = PrefixEnd::prefix(order, prefix).unwrap();
                let wanted = match behind {
                    b"" => Gap::Edge,
                    key => Gap::Before(key),
                };
                assert_eq!(found.gap(), wanted, "{order:?} {prefix:?}");
            }
        }
        assert!(PrefixEnd::prefix(KeyOrder::Integer, b"a").is_err());
        assert!(PrefixEnd::prefix(KeyOrder::Lexical, &[0; 512]).is_err());
    }

    #[test]
    fn ranges_of_byte_strings_have_their_bounds() {
        fn ends(range: impl KeyRange) -> (bool, bool) {
            (
                range.low() == Bound::Unbounded,
                range.high() == Bound::Unbounded,
            )
        }
        let key = [1u8, 2];
        assert_eq!(ends(..), (true, true));
        assert_eq!(ends(key..), (false, true));
        assert_eq!(ends(..key), (true, false));
        assert_eq!(ends(..=key.to_vec()), (true, false));
        assert_eq!(ends("a".."b"), (false, false));
        assert_eq!(ends(&key[..]..=&key[..]), (false, false));
        assert_eq!(
            ends((Bound::Excluded(key), Bound::Unbounded)),
            (false, true)
        );
    }
}
