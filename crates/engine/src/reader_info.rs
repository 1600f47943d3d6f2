//! Plain data about readers, as errors and reports carry it.

use core::time::Duration;

use fulgurite_format::Txnid;

/// A reader slot in use, of any process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reader {
    /// The process.
    pub pid: u32,
    /// The thread that took the slot, as its process names it; 0 for a checkpoint.
    pub thread: u64,
    /// The snapshot it reads; `None` between transactions.
    pub snapshot: Option<Txnid>,
    /// For how long it has had that snapshot, to some 8 ms. Readers that use the original library
    /// do not say.
    pub age: Option<Duration>,
    /// How many transactions were committed since its snapshot; 0 between transactions.
    pub lag: u64,
    /// A writer has asked it to end, and it still has its snapshot.
    pub is_asked_to_end: bool,
}

/// A reader that keeps an old snapshot for long, and its price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongReader {
    /// The reader.
    pub reader: Reader,
    /// Free pages that cannot be used again as long as it keeps its snapshot.
    pub held_pages: u64,
}
