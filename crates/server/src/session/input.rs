//! Bytes from the client, cut into PDUs that stay in the buffer until they have begun.

use fulgurite_ldap::{FrameError, frame};

/// Capacity in bytes that an empty buffer keeps. The rest of a large request's memory goes back to
/// the allocator.
const CAPACITY_KEPT: usize = 16 * 1024;

/// The position of one PDU, in bytes since the connection began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    start: u64,
    len: usize,
}

/// Received bytes: PDUs that wait, then bytes not cut yet.
///
/// ```text
///   base            cut_at                 end
///    | PDU | PDU | PDU | 30 84 00 ...       |
///      waiting, by Span   not cut yet
/// ```
#[derive(Debug, Default)]
pub(super) struct Input {
    bytes: Vec<u8>,
    /// Bytes that came before `bytes[0]`.
    base: u64,
    /// Index of the first byte that belongs to no PDU yet.
    cut_at: usize,
}

impl Input {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the number of buffered bytes, waiting PDUs included.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the bytes that belong to no PDU yet.
    pub(super) fn uncut(&self) -> &[u8] {
        self.bytes.get(self.cut_at..).unwrap_or_default()
    }

    /// Cuts the next PDU off if it is complete.
    ///
    /// # Errors
    /// The header is not LDAP, or announces more than `len_max` bytes.
    pub(super) fn cut(&mut self, len_max: usize) -> Result<Option<Span>, FrameError> {
        let Some(len) = frame(self.uncut(), len_max)? else {
            return Ok(None);
        };
        let start = self.base + self.cut_at as u64;
        self.cut_at += len;
        Ok(Some(Span { start, len }))
    }

    /// Returns the bytes of a PDU that has not been released.
    pub(super) fn pdu(&self, span: Span) -> &[u8] {
        let start = span.start.saturating_sub(self.base);
        usize::try_from(start)
            .ok()
            .and_then(|start| self.bytes.get(start..start + span.len))
            .unwrap_or_default()
    }

    /// Drops all bytes before `first_waiting`, or before the first uncut byte.
    pub(super) fn release(&mut self, first_waiting: Option<Span>) {
        let keep_from = first_waiting.map_or(self.cut_at, |span| {
            usize::try_from(span.start.saturating_sub(self.base)).unwrap_or(self.cut_at)
        });
        if keep_from == self.bytes.len() {
            self.bytes.clear();
            self.bytes.shrink_to(CAPACITY_KEPT);
        } else if keep_from >= self.bytes.len() / 2 {
            // Each move is shorter than the dropped part, so the total is linear.
            self.bytes.drain(..keep_from);
        } else {
            return;
        }
        self.base += keep_from as u64;
        self.cut_at -= keep_from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A SEQUENCE of `len - 2` zero bytes.
    fn pdu(len: usize) -> Vec<u8> {
        let mut bytes = vec![0u8; len];
        bytes[0] = 0x30;
        bytes[1] = u8::try_from(len - 2).unwrap();
        bytes
    }

    #[test]
    fn pdus_survive_while_later_ones_are_released() {
        let mut input = Input::default();
        for len in [10, 20, 30] {
            input.push(&pdu(len));
        }
        let first = input.cut(1000).unwrap().unwrap();
        let second = input.cut(1000).unwrap().unwrap();
        input.release(Some(second));
        assert_eq!(input.pdu(second), pdu(20));
        let third = input.cut(1000).unwrap().unwrap();
        assert_eq!(input.cut(1000).unwrap(), None);
        input.release(Some(third));
        assert_eq!(input.pdu(third), pdu(30));
        input.release(None);
        assert_eq!(input.len(), 0);
        assert_ne!(first, second);
        input.push(&pdu(7));
        let fourth = input.cut(1000).unwrap().unwrap();
        assert_eq!(input.pdu(fourth), pdu(7));
    }

    #[test]
    fn a_partial_pdu_waits_for_the_rest() {
        let mut input = Input::default();
        let whole = pdu(50);
        for byte in &whole[..49] {
            input.push(&[*byte]);
            assert_eq!(input.cut(1000).unwrap(), None);
            input.release(None);
        }
        input.push(&whole[49..]);
        let span = input.cut(1000).unwrap().unwrap();
        assert_eq!(input.pdu(span), whole);
    }
}
