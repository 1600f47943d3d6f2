//! Ways in which the protocol could be wrong.

/// The fault of the protocol in a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weakness {
    /// Nothing.
    None,
    /// Pinning stores the id with no fence behind it; so does letting go.
    SlotStoreRelaxed,
    /// Letting go does not keep the reads of the snapshot before it.
    UnpinRelaxed,
    /// Pinning does not look whether the id is still the newest.
    NoSecondLook,
    /// A reader believes a meta page without checking the last id.
    Unsettled,
    /// Both of these.
    NoLookAtAll,
    /// The last id is published without a fence, as a program with another library may do it.
    PlainPublication,
    /// As that, and the writer looks at the slots without a fence before.
    PlainPublicationAndScan,
    /// Pages that the oldest reader's own transaction freed are reused too.
    ReuseOffByOne,
    /// Twice as far off.
    ReuseOffByTwo,
    /// A slot counts as used, and as another process's, before it is filled.
    EnteredTooSoon,
    /// A slot becomes another process's only after it pins.
    EnteredTooLate,
    /// Slots are entered without the reader mutex.
    NoReaderMutex,
    /// Changes of ownership look, then store.
    OwnershipWithoutExchange,
    /// Slots of the dead are freed without the reader mutex.
    ClearedWithoutMutex,
    /// Slots that a dead process with our id left are not freed when the id is announced.
    LeftoversKept,
    /// The successor of a dead writer begins from its meta page but does not publish its id.
    SilentSuccessor,
    /// The snapshot before the newest is looked for while a writer is at work.
    PreviousBesideWriter,
    /// Two writers at a time.
    NoWriterMutex,
    /// The right to write is given up before the commit is published.
    PublishedTooLate,
    /// The last id is published before the meta page is written.
    PublishedTooSoon,
}
