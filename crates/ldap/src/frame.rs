//! Where one PDU ends and the next begins, before either is decoded.

use fulgurite_ber::{Header, Malformed, Tag};

/// Why no PDU can begin here; the connection cannot be resynchronised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The first bytes do not begin an LDAPMessage.
    #[error("not an LDAP message: begins with {0}, not with a SEQUENCE")]
    NotSequence(Tag),
    /// The length is written in a form LDAP does not use.
    #[error("not an LDAP message: {0}")]
    Length(Malformed),
    /// The message is longer than this connection accepts.
    #[error("a message of {length} bytes; the limit is {limit}")]
    TooLarge {
        /// Bytes of the whole message as declared.
        length: usize,
        /// Bytes accepted.
        limit: usize,
    },
}

/// Finds the first whole PDU in `bytes`: its bytes, header included, or `None` while it is
/// incomplete.
///
/// The limit (bytes of the whole PDU) is checked as soon as the header is there. A false length so
/// costs the receiver no memory. Grow the buffer with the bytes that arrive, never to the declared
/// length.
///
/// # Errors
/// [`FrameError`] as soon as the bytes show that no acceptable message begins here.
#[inline]
pub fn frame(bytes: &[u8], limit: usize) -> Result<Option<usize>, FrameError> {
    if let Some(&first) = bytes.first()
        && first != Tag::SEQUENCE.0
    {
        return Err(FrameError::NotSequence(Tag(first)));
    }
    let Some(header) = Header::parse(bytes).map_err(FrameError::Length)? else {
        return Ok(None);
    };
    let length = header.total_len();
    if length > limit {
        return Err(FrameError::TooLarge { length, limit });
    }
    Ok((bytes.len() >= length).then_some(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_for_the_last_byte() {
        let unbind = [0x30, 0x05, 0x02, 0x01, 0x03, 0x42, 0x00, 0x30];
        for cut in 0..7 {
            assert_eq!(frame(&unbind[..cut], 100), Ok(None));
        }
        assert_eq!(frame(&unbind[..7], 100), Ok(Some(7)));
        assert_eq!(frame(&unbind, 7), Ok(Some(7)), "what follows is left alone");
    }

    #[test]
    fn limits_are_checked_before_the_body_arrives() {
        let huge = [0x30, 0x84, 0x7f, 0xff, 0xff, 0xff];
        assert_eq!(frame(&huge[..5], 1 << 20), Ok(None));
        let length = 0x7fff_ffff + 6;
        assert_eq!(
            frame(&huge, 1 << 20),
            Err(FrameError::TooLarge {
                length,
                limit: 1 << 20
            })
        );
        let unbind = [0x30, 0x05, 0x02, 0x01, 0x03, 0x42, 0x00];
        assert_eq!(
            frame(&unbind[..2], 6),
            Err(FrameError::TooLarge {
                length: 7,
                limit: 6
            })
        );
    }

    #[test]
    fn other_protocols_are_refused_at_once() {
        assert_eq!(
            frame(b"GET / HTTP/1.1", 100),
            Err(FrameError::NotSequence(Tag(b'G')))
        );
        assert_eq!(
            frame(&[0x30, 0x80], 100),
            Err(FrameError::Length(Malformed::IndefiniteLength))
        );
        assert_eq!(
            frame(&[0x30, 0x85], 100),
            Err(FrameError::Length(Malformed::LengthBytes(5)))
        );
    }
}
