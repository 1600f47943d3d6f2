//! A part of a plan: a term, its size and whether it is exact.

use super::term::Term;

/// A term with its size.
#[derive(Debug)]
pub(crate) struct TermPlan {
    pub(crate) term: Term,
    /// True if every id in the term is a match.
    pub(crate) exact: bool,
    /// Upper bound of its size.
    pub(crate) count_max: u64,
}

impl TermPlan {
    pub(crate) fn nothing() -> TermPlan {
        TermPlan {
            term: Term::Nothing,
            exact: true,
            count_max: 0,
        }
    }

    /// Makes the plan of all entries, of which there are `total`.
    pub(crate) fn everything(total: u64, exact: bool) -> TermPlan {
        TermPlan {
            term: Term::All,
            exact,
            count_max: total,
        }
    }
}
