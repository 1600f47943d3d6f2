//! Memory in large pieces. If there is none, the call fails; the process goes on.

use alloc::vec::Vec;

use crate::boxed_error::BoxedError;

/// Returns `len` bytes of zero.
/// # Errors
/// [`crate::Error::Io`] if the process may not have them.
pub(crate) fn zeros(len: usize) -> Result<Vec<u8>, BoxedError> {
    let mut bytes = room_for(len)?;
    bytes.resize(len, 0);
    Ok(bytes)
}

/// Room for that many bytes.
/// # Errors
/// As [`zeros`].
pub(crate) fn room_for(len: usize) -> Result<Vec<u8>, BoxedError> {
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(len)
        .map_err(|_| BoxedError::no_memory())?;
    Ok(bytes)
}

/// Empties a list, and keeps its memory for the next transaction if that is not large.
pub(crate) fn empty<T>(list: &mut Vec<T>, capacity_max: usize) {
    list.clear();
    if list.capacity() > capacity_max {
        *list = Vec::new();
    }
}

/// Copies the first bytes, as many as there is room for.
#[inline]
pub(crate) fn copy_into(room: &mut [u8], bytes: &[u8]) {
    debug_assert!(bytes.len() <= room.len());
    let len = bytes.len().min(room.len());
    if let (Some(room), Some(bytes)) = (room.get_mut(..len), bytes.get(..len)) {
        room.copy_from_slice(bytes);
    }
}
