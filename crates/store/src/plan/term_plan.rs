//! A part of a plan: a term, its size and whether it is exact.

use super::term::Term;

/// A term with what is known of it.
#[derive(Debug)]
pub(crate) struct TermPlan {
    pub(crate) term: Term,
    /// Whether every id in it is a match.
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

    /// A plan of all entries, of which there are `total`.
    pub(crate) fn everything(total: u64, exact: bool) -> TermPlan {
        TermPlan {
            term: Term::All,
            exact,
            count_max: total,
        }
    }
}
