//! Intersections: the smallest terms first, and only as many terms as help.

use super::term::Term;
use super::term_plan::TermPlan;
use crate::ids::EntryId;

/// Number of candidates up to which testing them is faster than reading a range of keys.
pub(super) const FEW: u64 = 64;

/// Number of candidates up to which testing them is faster than reading one more posting.
pub(super) const TESTED_SOONER: usize = 2;

/// Number of candidates up to which testing them is faster than looking them up in a long posting.
pub(super) const TESTED_SOONER_THAN_MANY: usize = 16;

/// Terms of an intersection at most. The smallest are taken.
const INTERSECTED_MAX: usize = 16;

/// Intersects terms of a store with `total` entries.
pub(super) fn intersection(mut terms: Vec<TermPlan>, total: u64) -> TermPlan {
    let mut exact = terms.iter().all(|planned| planned.exact);
    terms.retain(|planned| !matches!(planned.term, Term::All));
    terms.sort_by_key(|planned| planned.count_max);
    intersect_lists(&mut terms);
    debug_assert!(
        terms.is_sorted_by_key(|planned| planned.count_max),
        "the smallest term is first"
    );
    let Some(smallest) = terms.first().map(|planned| planned.count_max) else {
        return TermPlan::everything(total, exact);
    };
    if smallest == 0 {
        return TermPlan::nothing();
    }
    if terms.len() > INTERSECTED_MAX {
        terms.truncate(INTERSECTED_MAX);
        exact = false;
    }
    // A term with most entries removes few candidates, and reading it costs more than testing them.
    let before = terms.len();
    let mut position = 0;
    terms.retain(|planned| {
        position += 1;
        let many = planned.count_max > total / 2;
        let helps = smallest > TESTED_SOONER_THAN_MANY as u64 && (smallest > FEW || !many);
        position == 1 || helps
    });
    exact &= terms.len() == before;
    debug_assert!(!terms.is_empty(), "the smallest term stays");
    debug_assert!(terms.len() <= INTERSECTED_MAX);
    let term = match terms.len() {
        1 => terms.pop().map_or(Term::Nothing, |planned| planned.term),
        _ => Term::And(terms.into_iter().map(|planned| planned.term).collect()),
    };
    TermPlan {
        term,
        exact,
        count_max: smallest,
    }
}

/// Intersects the first terms in memory, as long as they are lists.
fn intersect_lists(terms: &mut Vec<TermPlan>) {
    while let [first, second, ..] = terms.as_mut_slice()
        && let (Term::Ids(ids), Term::Ids(others)) = (&mut first.term, &second.term)
    {
        intersect_ids(ids, others);
        debug_assert!(
            ids.len() as u64 <= first.count_max,
            "an intersection is no larger"
        );
        first.count_max = ids.len() as u64;
        terms.remove(1);
    }
}

/// Keeps the ids that are in both lists; both ascend.
pub(super) fn intersect_ids(ids: &mut Vec<EntryId>, others: &[EntryId]) {
    // Both ways rely on the order: the binary search, and the walk through both lists.
    debug_assert!(ids.is_sorted(), "ids ascend");
    debug_assert!(others.is_sorted(), "ids ascend");
    if others.len() / 8 > ids.len() {
        return ids.retain(|id| others.binary_search(id).is_ok());
    }
    let mut others = others.iter().peekable();
    ids.retain(|id| {
        while others.next_if(|other| *other < id).is_some() {}
        others.peek() == Some(&id)
    });
}
