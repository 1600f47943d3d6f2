//! The file `alock`: who has the database open, or has left it open.
//!
//! ```text
//!   1024 bytes without use, then slots of 1024 bytes: magic u32, unused u32, state u32, ...
//! ```

use std::fs;
use std::io;
use std::path::Path;

use crate::error::BdbError;
use crate::words::u32_at;

const SLOT_LEN: usize = 1024;
const MAGIC: u32 = 0x1234_5678;
/// The state of a slot that its process has given back.
const CLOSED: u32 = 0;

/// Fails if a process has the database open, or has ended without closing it. A copy without the
/// file counts as closed.
pub(super) fn require_closed(folder: &Path) -> Result<(), BdbError> {
    let path = folder.join("alock");
    let bytes = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        read => read.map_err(|source| BdbError::System { path, source })?,
    };
    let mut slots = bytes.chunks(SLOT_LEN).skip(1);
    // The file may come from a machine of the other byte order.
    let is_slot = |slot: &[u8]| {
        [MAGIC, MAGIC.swap_bytes()]
            .map(Some)
            .contains(&u32_at(slot, 0))
    };
    let is_open = |slot: &[u8]| is_slot(slot) && u32_at(slot, 8) != Some(CLOSED);
    match slots.any(is_open) {
        true => Err(BdbError::NotClosed {
            path: folder.to_owned(),
        }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_that_was_not_given_back_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        require_closed(folder.path()).unwrap();
        let mut bytes = vec![0; SLOT_LEN * 3];
        for (slot, state) in [(1, 0_u32), (2, 2)] {
            let at = SLOT_LEN * slot;
            bytes[at..at + 4].copy_from_slice(&MAGIC.to_ne_bytes());
            bytes[at + 8..at + 12].copy_from_slice(&state.to_ne_bytes());
        }
        let alock = folder.path().join("alock");
        fs::write(&alock, &bytes[..SLOT_LEN * 2]).unwrap();
        require_closed(folder.path()).unwrap();
        fs::write(&alock, &bytes).unwrap();
        assert!(matches!(
            require_closed(folder.path()),
            Err(BdbError::NotClosed { .. })
        ));
    }
}
