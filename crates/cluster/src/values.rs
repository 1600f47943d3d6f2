//! The numbers of a cluster, which must not mix.

use std::fmt;

/// The number of a batch in the log; 0 is the content before the first one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(pub u64);

impl Position {
    /// Returns the position behind this one.
    ///
    /// # Panics
    /// If there is none, which no log reaches.
    #[must_use]
    pub fn next(self) -> Position {
        Position(self.0.checked_add(1).expect("positions never end"))
    }
}

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// The number of a leadership: the log's revision at which the leader won.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub u64);

/// The number of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u64);

impl fmt::Display for NodeId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// The random name of a batch. It tells an own batch from another one at the same position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchId(pub [u8; 16]);

impl fmt::Display for BatchId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// The SHA-256 of a batch. Each batch names that of the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

/// A change sequence number in the packed form of the store. It sorts like its text.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Csn([u8; Csn::LEN]);

impl Csn {
    /// Length in bytes.
    pub const LEN: usize = 18;

    /// Returns the number of these bytes, if they are one. Its first 20 digits are decimal, and the
    /// last half byte is empty.
    #[must_use]
    pub fn from_bytes(bytes: [u8; Csn::LEN]) -> Option<Csn> {
        let is_decimal = bytes.iter().take(10);
        let is_decimal =
            is_decimal.fold(true, |all, pair| all & (pair >> 4 < 10 && pair & 15 < 10));
        let [.., last] = bytes;
        (is_decimal && last & 15 == 0).then_some(Csn(bytes))
    }

    /// Returns the bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Csn::LEN] {
        &self.0
    }
}

impl fmt::Debug for Csn {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// The end of a log, or of what a node has applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The last position.
    pub position: Position,
    /// The greatest number of an ordered change.
    pub csn: Csn,
    /// The digest of the last batch.
    pub digest: Digest,
}
