//! Every way the bytes of a file can lie.

use crate::Pgno;

/// The reason why bytes are no page, node or record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// A page ends before its header or contents do.
    #[error("it is shorter than its contents")]
    Truncated,
    /// The header names another page.
    #[error("its header says it is page {0}")]
    Number(Pgno),
    /// The header's flags do not fit the page's place.
    #[error("its flags {found:#06x} are not those of {wanted}")]
    Kind {
        /// The flags found.
        found: u16,
        /// The expected kind.
        wanted: &'static str,
    },
    /// The bounds of the free space contradict each other or the page size.
    #[error("its free space claims to span {lower} to {upper}")]
    Bounds {
        /// End of the offset array.
        lower: u16,
        /// Start of the lowest node.
        upper: u16,
    },
    /// A packed page holds items of another size than its tree, or of none.
    #[error("its item size differs from that of its database")]
    ItemLength,
    /// A branch with fewer than two children, or a leaf without entries.
    #[error("it has only {0} entries")]
    TooFewEntries(usize),
    /// A node does not lie in its page.
    #[error("node {0} is not inside the page")]
    Node(usize),
    /// A node's flags are no valid combination, or not in this database.
    #[error("node {index} has flags {flags:#06x}, which make no sense there")]
    NodeFlags {
        /// The node's place in the page.
        index: usize,
        /// Its flags.
        flags: u16,
    },
    /// A key has an impossible length.
    #[error("the key of node {index} has {len} bytes")]
    KeyLength {
        /// The node's place in the page.
        index: usize,
        /// The key's length.
        len: usize,
    },
    /// A duplicate, which is a whole key, has a value.
    #[error("node {0} has a value in a tree of keys only")]
    StrayValue(usize),
    /// A key that was just put in its place is not found there.
    #[error("its keys are out of order")]
    KeyOrder,
    /// The nodes do not add up to the used part of the page.
    #[error("its nodes overlap or leave gaps")]
    NodeSum,
    /// An overflow run is shorter than the value it holds, or reaches behind the last page.
    #[error("its overflow run of {pages} pages cannot hold the value")]
    Overflow {
        /// Pages the run claims.
        pages: u64,
    },
    /// A tree record contradicts itself.
    #[error("a tree record in it contradicts itself")]
    TreeRecord,
    /// A free-list record is no list of free pages.
    #[error("a free-list record in it is invalid: {0}")]
    FreeRecord(&'static str),
    /// A page number outside the snapshot.
    #[error("it names page {0}, which the snapshot does not have")]
    PageOutOfRange(Pgno),
    /// A tree is deeper or shallower than its record says.
    #[error("its tree is deeper than it claims or than any tree can be")]
    Depth,
    /// Walking along the leaves met more of them than the file has pages.
    #[error("its leaves form a circle")]
    Cycle,
}
