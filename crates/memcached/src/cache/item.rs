//! The bytes of an item.

/// Bytes before the value: cas, client flags, expiry, time of storing, state, and three unused.
pub(crate) const HEADER_BYTES: usize = 24;

/// The item is outdated, and a client has to renew it.
pub(crate) const STALE: u8 = 1;
/// A client was told to renew the item.
pub(crate) const WON: u8 = 2;
/// The key was given in base64, and goes out so.
pub(crate) const BINARY_KEY: u8 = 4;

/// An item, its value lent from the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Item<'t> {
    /// The number of its last change.
    pub(crate) cas: u64,
    pub(crate) client_flags: u32,
    /// Seconds since 1970; 0 is never.
    pub(crate) expiry_s: u32,
    /// Seconds since 1970.
    pub(crate) stored_s: u32,
    pub(crate) state: u8,
    pub(crate) value: &'t [u8],
}

impl<'t> Item<'t> {
    /// Reads a record; `None` if it is no item.
    pub(crate) fn read(record: &'t [u8]) -> Option<Item<'t>> {
        let (cas, rest) = record.split_first_chunk::<8>()?;
        let (flags, rest) = rest.split_first_chunk::<4>()?;
        let (expiry, rest) = rest.split_first_chunk::<4>()?;
        let (stored, rest) = rest.split_first_chunk::<4>()?;
        let (state, value) = rest.split_first_chunk::<4>()?;
        Some(Item {
            cas: u64::from_le_bytes(*cas),
            client_flags: u32::from_le_bytes(*flags),
            expiry_s: u32::from_le_bytes(*expiry),
            stored_s: u32::from_le_bytes(*stored),
            state: state[0],
            value,
        })
    }

    /// Writes the record with a value of two parts.
    pub(crate) fn write(&self, record: &mut Vec<u8>, more: &[u8]) {
        record.clear();
        record.extend_from_slice(&self.cas.to_le_bytes());
        record.extend_from_slice(&self.client_flags.to_le_bytes());
        record.extend_from_slice(&self.expiry_s.to_le_bytes());
        record.extend_from_slice(&self.stored_s.to_le_bytes());
        record.extend_from_slice(&[self.state, 0, 0, 0]);
        debug_assert_eq!(record.len(), HEADER_BYTES);
        record.extend_from_slice(self.value);
        record.extend_from_slice(more);
    }

    /// Returns true if clients see the item.
    pub(crate) fn is_visible(&self, now_s: u32, flushed_cas: u64) -> bool {
        (self.expiry_s == 0 || self.expiry_s > now_s) && self.cas > flushed_cas
    }
}

/// Writes the key of an item in the database of expiries.
pub(crate) fn expiry_key(expiry_s: u32, key: &[u8], into: &mut Vec<u8>) {
    into.clear();
    into.extend_from_slice(&expiry_s.to_be_bytes());
    into.extend_from_slice(key);
}

/// Reads a key of the database of expiries.
pub(crate) fn read_expiry_key(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (expiry, key) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*expiry), key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_back() {
        let item = Item {
            cas: 1 << 40,
            client_flags: 7,
            expiry_s: 9,
            stored_s: 11,
            state: STALE | WON,
            value: b"abc",
        };
        let mut record = Vec::new();
        item.write(&mut record, b"def");
        let read = Item::read(&record).unwrap();
        assert_eq!(
            read,
            Item {
                value: b"abcdef",
                ..item
            }
        );
        for length in 0..HEADER_BYTES {
            assert_eq!(Item::read(&record[..length]), None);
        }
    }

    #[test]
    fn keys_of_expiries_sort_by_time() {
        let (mut early, mut late) = (Vec::new(), Vec::new());
        expiry_key(255, b"z", &mut early);
        expiry_key(256, b"a", &mut late);
        assert!(early < late);
        assert_eq!(read_expiry_key(&late), Some((256, &b"a"[..])));
        assert_eq!(read_expiry_key(b"abc"), None);
    }
}
