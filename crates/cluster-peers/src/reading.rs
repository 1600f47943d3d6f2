//! Frames from a connection.

use std::io::{self, Read};

use crate::error::FrameError;
use crate::frame::Frame;

/// Reads a frame. Its memory grows with the bytes that come, not with the length that it says.
pub(crate) fn read_frame(stream: &mut impl Read, bytes_max: usize) -> io::Result<Frame> {
    let mut len = [0; 4];
    stream.read_exact(&mut len)?;
    let len = u32::from_be_bytes(len);
    let wrong = |error: FrameError| io::Error::new(io::ErrorKind::InvalidData, error);
    let is_short = usize::try_from(len).is_ok_and(|len| len <= bytes_max);
    if !is_short {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        return Err(wrong(FrameError::TooLong(len)));
    }
    let mut bytes = Vec::new();
    let read = stream.take(u64::from(len)).read_to_end(&mut bytes)?;
    if u32::try_from(read) != Ok(len) {
        return Err(wrong(FrameError::Truncated));
    }
    Frame::decode(&bytes).map_err(wrong)
}
