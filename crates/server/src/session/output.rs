//! The bytes on their way to the client, with a bound that makes searches wait.

/// Capacity kept by an empty buffer; what a large answer needed beyond it goes back to the allocator.
const CAPACITY_KEPT: usize = 16 * 1024;

/// Encoded responses that have not been sent.
#[derive(Debug)]
pub(super) struct Output {
    bytes: Vec<u8>,
    sent: usize,
    full_at: usize,
}

impl Output {
    /// A buffer that calls itself full from `full_at` unsent octets on.
    pub(super) const fn new(full_at: usize) -> Self {
        Output {
            bytes: Vec::new(),
            sent: 0,
            full_at,
        }
    }

    pub(super) fn unsent(&self) -> &[u8] {
        self.bytes.get(self.sent..).unwrap_or_default()
    }

    pub(super) fn unsent_len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Octets until the buffer is full.
    pub(super) fn room(&self) -> usize {
        self.full_at.saturating_sub(self.unsent_len())
    }

    pub(super) fn is_full(&self) -> bool {
        self.room() == 0
    }

    /// Where responses are appended.
    pub(super) const fn append(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// A position to ask [`Output::since`] about, valid until the next [`Output::consume`].
    pub(super) const fn mark(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn since(&self, mark: usize) -> &[u8] {
        self.bytes.get(mark..).unwrap_or_default()
    }

    /// Forgets `count` octets that the client's socket has taken.
    pub(super) fn consume(&mut self, count: usize) {
        self.sent = (self.sent + count).min(self.bytes.len());
        if self.sent == self.bytes.len() {
            self.bytes.clear();
            self.sent = 0;
        } else if self.sent > self.bytes.len() / 2 {
            // Moving less than what has been sent since the last move: linear in total.
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
    }

    /// Gives back what a large answer has taken, once it is sent. Not between the parts of one: taking the memory again for
    /// each costs more than the parts' octets.
    pub(super) fn release(&mut self) {
        if self.bytes.is_empty() {
            self.bytes.shrink_to(CAPACITY_KEPT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_not_sent_again() {
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
    fn it_is_full_by_what_is_unsent() {
        let mut output = Output::new(4);
        output.append().extend_from_slice(b"abcdef");
        assert!(output.is_full());
        output.consume(2);
        assert!(output.is_full());
        output.consume(1);
        assert_eq!(output.room(), 1);
    }
}
