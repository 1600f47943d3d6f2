//! Rules, broken on purpose: the checker has to notice.

/// A rule that all nodes break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// The append compares neither the leader nor the position.
    NoComparison,
    /// The append compares the leader, and that its position is empty. A trimmed one is empty too.
    NoHeadComparison,
    /// Answers go out before the append.
    AnswerBeforeAppend,
    /// An unknown append counts as one.
    CommitOnUnknown,
    /// Refusals are answered before the log confirms their state.
    EarlyRefusals,
    /// The log keeps nothing for slow nodes.
    TrimTooFar,
    /// After a power cut, a store begins at its last commit.
    BootIgnored,
    /// A linearizable read does not ask for the end of the log.
    LocalReads,
    /// A node does not wait for the position that a session has seen.
    SessionsForgotten,
    /// A sequencer takes an update that was meant for an earlier leadership.
    LateUpdates,
    /// Updates of an ended leadership are looked for up to an old end of the log.
    OldEnd,
    /// A sequencer that is asked about an update does not look whether it has it.
    HastyAbsence,
    /// The list of a long batch is written before its parts.
    ListBeforeParts,
}

impl Mutant {
    pub(crate) const ALL: [Mutant; 13] = [
        Mutant::NoComparison,
        Mutant::NoHeadComparison,
        Mutant::AnswerBeforeAppend,
        Mutant::CommitOnUnknown,
        Mutant::EarlyRefusals,
        Mutant::TrimTooFar,
        Mutant::BootIgnored,
        Mutant::LocalReads,
        Mutant::SessionsForgotten,
        Mutant::LateUpdates,
        Mutant::OldEnd,
        Mutant::HastyAbsence,
        Mutant::ListBeforeParts,
    ];
}
