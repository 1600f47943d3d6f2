//! The orders keys can have.

use std::cmp::Ordering;

use fulgurite_format::DatabaseFlags;

use crate::Error;

/// How a database orders its keys; fixed when it is created and recorded in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyOrder {
    /// Octet by octet from the first; a prefix comes first.
    #[default]
    Lexical,
    /// Octet by octet from the last; a suffix comes first.
    Reverse,
    /// Unsigned integers of 4 or 8 octets in the machine's byte order, one size per database.
    Integer,
}

impl KeyOrder {
    pub(crate) fn from_flags(flags: DatabaseFlags) -> KeyOrder {
        if flags.has(DatabaseFlags::REVERSE_KEY) {
            KeyOrder::Reverse
        } else if flags.has(DatabaseFlags::INTEGER_KEY) {
            KeyOrder::Integer
        } else {
            KeyOrder::Lexical
        }
    }

    pub(crate) const fn flags(self) -> DatabaseFlags {
        DatabaseFlags(match self {
            KeyOrder::Lexical => 0,
            KeyOrder::Reverse => DatabaseFlags::REVERSE_KEY,
            KeyOrder::Integer => DatabaseFlags::INTEGER_KEY,
        })
    }

    /// Compares two keys.
    #[inline]
    pub(crate) fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            KeyOrder::Lexical => a.cmp(b),
            KeyOrder::Reverse => a.iter().rev().cmp(b.iter().rev()),
            KeyOrder::Integer => compare_integers(a, b),
        }
    }

    /// Refuses keys that have no place in this order.
    pub(crate) fn check_key(self, key: &[u8]) -> Result<(), Error> {
        match (self, key.len()) {
            (KeyOrder::Integer, len) if len != 4 && len != 8 => Err(Error::IntegerKey {
                len,
                wanted: "4 or 8 octets",
            }),
            _ => Ok(()),
        }
    }
}

#[inline]
fn compare_integers(a: &[u8], b: &[u8]) -> Ordering {
    match (<[u8; 8]>::try_from(a), <[u8; 8]>::try_from(b)) {
        (Ok(a), Ok(b)) => u64::from_ne_bytes(a).cmp(&u64::from_ne_bytes(b)),
        // Sizes that no sane file has still need some total order.
        _ => a
            .len()
            .cmp(&b.len())
            .then_with(|| a.iter().rev().cmp(b.iter().rev())),
    }
}
