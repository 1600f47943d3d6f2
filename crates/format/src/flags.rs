//! Flag words of pages, nodes and databases.

/// Flags in a page header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageFlags(pub u16);

impl PageFlags {
    /// A branch page: keys and child page numbers.
    pub const BRANCH: u16 = 0x01;
    /// A leaf page: keys and values.
    pub const LEAF: u16 = 0x02;
    /// The first page of an overflow run.
    pub const OVERFLOW: u16 = 0x04;
    /// A meta page.
    pub const META: u16 = 0x08;
    /// Set in sub-pages; elsewhere it is a memory-only mark of the original that a crash may leave
    /// behind.
    pub const DIRTY: u16 = 0x10;
    /// A leaf of fixed-size items without nodes ("LEAF2"), with [`PageFlags::LEAF`].
    pub const PACKED: u16 = 0x20;
    /// A page inside a node, with [`PageFlags::LEAF`].
    pub const SUB_PAGE: u16 = 0x40;
    /// The flags that distinguish kinds of pages.
    pub const KIND: u16 =
        Self::BRANCH | Self::LEAF | Self::OVERFLOW | Self::META | Self::PACKED | Self::SUB_PAGE;
}

/// Flags in a leaf node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeFlags(pub u16);

impl NodeFlags {
    /// The value is in an overflow run; the node holds its first page number.
    pub const OVERFLOW: u16 = 0x01;
    /// The value is a tree record: of a named database, or with [`NodeFlags::DUPLICATES`] of a
    /// sub-database.
    pub const SUB_TREE: u16 = 0x02;
    /// The value holds duplicates: a sub-page, or with [`NodeFlags::SUB_TREE`] a sub-database.
    pub const DUPLICATES: u16 = 0x04;

    /// Returns true if the flags are a valid combination whose data lie wholly in the node.
    #[must_use]
    #[inline]
    pub const fn is_inline(self) -> bool {
        self.0 & !(Self::SUB_TREE | Self::DUPLICATES) == 0
    }
}

/// Persistent flags of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DatabaseFlags(pub u16);

impl DatabaseFlags {
    /// Keys are compared from their last byte.
    pub const REVERSE_KEY: u16 = 0x02;
    /// A key may have several, sorted values.
    pub const DUP_SORT: u16 = 0x04;
    /// Keys are native unsigned integers of 4 or 8 bytes.
    pub const INTEGER_KEY: u16 = 0x08;
    /// With `DUP_SORT`: all values of a key have one size.
    pub const DUP_FIXED: u16 = 0x10;
    /// With `DUP_SORT`: values are native unsigned integers.
    pub const INTEGER_DUP: u16 = 0x20;
    /// With `DUP_SORT`: values are compared from their last byte.
    pub const REVERSE_DUP: u16 = 0x40;
    /// All flags that are stored.
    pub const PERSISTENT: u16 = 0x7e;

    /// Returns true if all of `bits` are set.
    #[must_use]
    #[inline(always)]
    pub const fn has(self, bits: u16) -> bool {
        self.0 & bits == bits
    }
}
