//! Numbers that must not mix.

use core::fmt;

/// A page number: the page is at this number times the page size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pgno(pub u64);

impl Pgno {
    /// Where a tree record points when the tree is empty.
    pub const NONE: Pgno = Pgno(u64::MAX);
    /// The first page that can hold data; before it lie the meta pages.
    pub const FIRST_DATA: Pgno = Pgno(2);

    /// Returns true if this is [`Pgno::NONE`].
    #[must_use]
    #[inline(always)]
    pub const fn is_none(self) -> bool {
        self.0 == u64::MAX
    }
}

impl fmt::Display for Pgno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A transaction id: the number of commits since the file was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Txnid(pub u64);

impl fmt::Display for Txnid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
