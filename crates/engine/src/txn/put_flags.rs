//! Flags of a put, and its result.

/// Restrictions of a put, and hints for its position. Combine with `|`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PutFlags(u8);

impl PutFlags {
    /// Stores in any case.
    pub const NONE: PutFlags = PutFlags(0);
    /// Stores only if the key has no value.
    pub const NO_OVERWRITE: PutFlags = PutFlags(1);
    /// With duplicates: stores only if the key does not have this value.
    pub const NO_DUP_DATA: PutFlags = PutFlags(2);
    /// Stores only if the key is greater than all others; finds its place without a search.
    pub const APPEND: PutFlags = PutFlags(4);
    /// With duplicates: stores only if the value is greater than all others of its key.
    pub const APPEND_DUP: PutFlags = PutFlags(8);
    /// Through a cursor: replaces the record it is on.
    pub const CURRENT: PutFlags = PutFlags(16);

    /// Returns true if none is set.
    pub(crate) const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Returns these flags without some of them.
    pub(crate) const fn without(self, flags: PutFlags) -> PutFlags {
        PutFlags(self.0 & !flags.0)
    }

    /// Returns true if all of these are set.
    #[must_use]
    pub const fn has(self, flags: PutFlags) -> bool {
        self.0 & flags.0 == flags.0
    }
}

impl core::ops::BitOr for PutFlags {
    type Output = PutFlags;

    fn bitor(self, other: PutFlags) -> PutFlags {
        PutFlags(self.0 | other.0)
    }
}

/// How a put went.
#[derive(Debug, PartialEq, Eq)]
pub enum Put<'t> {
    /// The record is stored.
    Stored,
    /// The flags forbid it, and nothing was changed. This is the key's first value; with
    /// [`PutFlags::APPEND`] that of the last key.
    Exists(&'t [u8]),
}

/// How a reservation went.
#[derive(Debug, PartialEq, Eq)]
pub enum Reservation<'t> {
    /// Room for the value, to be filled. Unfilled bytes are undefined.
    Empty(&'t mut [u8]),
    /// The flags forbid it; this is the key's value.
    Exists(&'t [u8]),
}
