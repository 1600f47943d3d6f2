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
}

impl Mutant {
    pub(crate) const ALL: [Mutant; 9] = [
        Mutant::NoComparison,
        Mutant::NoHeadComparison,
        Mutant::AnswerBeforeAppend,
        Mutant::CommitOnUnknown,
        Mutant::EarlyRefusals,
        Mutant::TrimTooFar,
        Mutant::BootIgnored,
        Mutant::LocalReads,
        Mutant::SessionsForgotten,
    ];
}
