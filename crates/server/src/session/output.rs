//! Bytes on their way to the client, with a bound at which searches pause.

/// Capacity in bytes that an empty buffer keeps. The rest of a large response's memory goes back to
/// the allocator.
const CAPACITY_KEPT: usize = 16 * 1024;

/// Encoded responses that have not been sent.
#[derive(Debug)]
pub(super) struct Output {
    bytes: Vec<u8>,
    sent: usize,
    full_at: usize,
}

impl Output {
    /// Makes a buffer that is full from `full_at` unsent bytes on.
    pub(super) const fn new(full_at: usize) -> Self {
        Output {
            bytes: Vec::new(),
            sent: 0,
            full_at,
        }
    }

    /// Changes the number of unsent bytes from which on the buffer is full.
    pub(super) const fn set_full_at(&mut self, full_at: usize) {
        self.full_at = full_at;
    }

    pub(super) fn unsent(&self) -> &[u8] {
        self.bytes.get(self.sent..).unwrap_or_default()
    }

    pub(super) fn unsent_len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Returns the number of bytes until the buffer is full.
    pub(super) fn room(&self) -> usize {
        self.full_at.saturating_sub(self.unsent_len())
    }

    pub(super) fn is_full(&self) -> bool {
        self.room() == 0
    }

    /// Returns the vector to which responses are appended.
    pub(super) const fn append(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Returns a position for [`Output::since`], valid until the next [`Output::consume`].
    pub(super) const fn mark(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn since(&self, mark: usize) -> &[u8] {
        self.bytes.get(mark..).unwrap_or_default()
    }

    /// Takes the bytes since a position.
    pub(super) fn take_since(&mut self, mark: usize) -> Vec<u8> {
        self.bytes.split_off(mark.min(self.bytes.len()))
    }

    /// Drops `count` bytes that the client's socket has taken.
    pub(super) fn consume(&mut self, count: usize) {
        self.sent = (self.sent + count).min(self.bytes.len());
        if self.sent == self.bytes.len() {
            self.bytes.clear();
            self.sent = 0;
        } else if self.sent > self.bytes.len() / 2 {
            // Each move is shorter than the bytes sent since the last move, so the total is linear.
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
    }

    /// Returns the memory of a large response to the allocator once it is sent. Between the parts
    /// of a response this would cost more than it saves.
    pub(super) fn release(&mut self) {
        if self.bytes.is_empty() {
            self.bytes.shrink_to(CAPACITY_KEPT.min(self.full_at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sent_bytes_are_not_sent_again() {
        let mut output = Output::new(10);
        output.append().extend_from_slice(b"abcdefgh");
        output.consume(3);
        assert_eq!(output.unsent(), b"defgh");
        output.consume(3);
        output.append().extend_from_slice(b"ij");
        assert_eq!(output.unsent(), b"ghij");
        assert_eq!(output.room(), 6);
        output.consume(4);
        assert_eq!(output.unsent(), b"");
        assert_eq!(output.room(), 10);
    }

    #[test]
    fn unsent_bytes_fill_the_output() {
        let mut output = Output::new(4);
        output.append().extend_from_slice(b"abcdef");
        assert!(output.is_full());
        output.consume(2);
        assert!(output.is_full());
        output.consume(1);
        assert_eq!(output.room(), 1);
    }
}
