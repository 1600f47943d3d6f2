//! Numbers as the backend writes them: in the machine's byte order.

/// Returns the 32-bit number at a byte offset.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

/// Returns the 64-bit number at a byte offset.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}

/// Returns the id in a key, if it fills the key.
pub(crate) fn id_of(key: &[u8]) -> Option<u64> {
    (key.len() == 8).then(|| u64_at(key, 0)).flatten()
}
