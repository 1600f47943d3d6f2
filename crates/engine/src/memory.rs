//! Memory in large pieces: that there is none is an error of the call, and not the end of the process.

use std::io;

use crate::Error;

/// So many octets of zero.
/// # Errors
/// [`Error::Io`] if the process may not have them.
pub(crate) fn zeros(len: usize) -> Result<Vec<u8>, Error> {
    let mut octets = room_for(len)?;
    octets.resize(len, 0);
    Ok(octets)
}

/// Room for so many octets.
/// # Errors
/// As [`zeros`].
pub(crate) fn room_for(len: usize) -> Result<Vec<u8>, Error> {
    let mut octets = Vec::new();
    octets
        .try_reserve_exact(len)
        .map_err(|_| Error::io("taking memory")(io::ErrorKind::OutOfMemory.into()))?;
    Ok(octets)
}
