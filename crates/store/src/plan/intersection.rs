//! Intersections: the smallest terms first, and no more terms than help.

use super::term::Term;
use super::term_plan::TermPlan;
use crate::ids::EntryId;

/// So few candidates are tested in place sooner than a range of keys is read.
pub(super) const FEW: u64 = 64;

/// So few candidates are tested sooner than one more posting is looked up.
pub(super) const TESTED_SOONER: usize = 2;

/// So few candidates are tested sooner than they are looked up in a posting of many.
pub(super) const TESTED_SOONER_THAN_MANY: usize = 16;

/// Terms that take part in an intersection at most: the smallest.
const INTERSECTED_MAX: usize = 16;

/// Intersects terms, of a store of `total` entries.
pub(super) fn intersection(mut terms: Vec<TermPlan>, total: u64) -> TermPlan {
    let mut exact = terms.iter().all(|planned| planned.exact);
    terms.retain(|planned| !matches!(planned.term, Term::All));
    terms.sort_by_key(|planned| planned.count_max);
    intersect_lists(&mut terms);
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
    // A term that holds most entries takes away less than looking into it costs.
    let before = terms.len();
    let mut position = 0;
    terms.retain(|planned| {
        position += 1;
        let many = planned.count_max > total / 2;
        let helps = smallest > TESTED_SOONER_THAN_MANY as u64 && (smallest > FEW || !many);
        position == 1 || helps
    });
    exact &= terms.len() == before;
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

/// Meets what is in memory already: the first terms, as long as they are lists.
fn intersect_lists(terms: &mut Vec<TermPlan>) {
    while let [first, second, ..] = terms.as_mut_slice()
        && let (Term::Ids(ids), Term::Ids(others)) = (&mut first.term, &second.term)
    {
        intersect_ids(ids, others);
        first.count_max = ids.len() as u64;
        terms.remove(1);
    }
}

/// Keeps the ids that are among others; both ascend.
pub(super) fn intersect_ids(ids: &mut Vec<EntryId>, others: &[EntryId]) {
    if others.len() / 8 > ids.len() {
        return ids.retain(|id| others.binary_search(id).is_ok());
    }
    let mut others = others.iter().peekable();
    ids.retain(|id| {
        while others.next_if(|other| *other < id).is_some() {}
        others.peek() == Some(&id)
    });
}
