//! The scope of a search as part of its plan.

use rustc_hash::FxHashMap;

use super::listing::Listing;
use super::search_scope::Scope;
use super::term::Term;
use super::term_plan::TermPlan;
use crate::error::{Damage, StoreError};
use crate::ids::EntryId;
use crate::names::DEPTH_MAX;
use crate::record::Record;
use crate::view::View;
use fulgurite::Snapshot;

/// Entries of a scope that are listed at most; each takes one bit of memory. A larger scope is
/// tested.
const LISTED_MAX: u64 = 1 << 20;
/// Parents that a test remembers at most.
const REMEMBERED_MAX: usize = 1024;

/// The test of a candidate against the scope.
#[derive(Debug)]
pub(crate) enum ScopeTest {
    /// All candidates are within the scope.
    None,
    /// The parent must be this entry.
    Parent(EntryId),
    /// The candidate must be below this entry, or be the entry itself.
    Below {
        base: EntryId,
        itself: bool,
        remembered: FxHashMap<EntryId, bool>,
    },
}

impl ScopeTest {
    /// Returns the test for a scope if nothing is known about candidates.
    pub(crate) fn of(base: EntryId, scope: Scope) -> ScopeTest {
        match scope {
            Scope::Base => ScopeTest::None,
            Scope::OneLevel => ScopeTest::Parent(base),
            Scope::Subtree => below(base, true),
            Scope::Subordinates => below(base, false),
        }
    }

    /// Returns true if a candidate is within the scope.
    pub(crate) fn admits<T: Snapshot>(
        &mut self,
        view: &View<'_, T>,
        id: EntryId,
        record: &Record<'_>,
    ) -> Result<bool, StoreError> {
        match self {
            ScopeTest::None => Ok(true),
            ScopeTest::Parent(parent) => Ok(record.parent() == *parent),
            ScopeTest::Below { base, itself, .. } if id == *base => Ok(*itself),
            ScopeTest::Below {
                base, remembered, ..
            } => is_below(view, record.parent(), *base, remembered),
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        matches!(self, ScopeTest::None)
    }
}

/// Returns true if `first`, a parent, is `base` or is below it.
fn is_below<T: Snapshot>(
    view: &View<'_, T>,
    first: EntryId,
    base: EntryId,
    remembered: &mut FxHashMap<EntryId, bool>,
) -> Result<bool, StoreError> {
    if first == base {
        return Ok(true);
    }
    let mut id = first;
    for _ in 0..DEPTH_MAX {
        let known = if id == base || id == EntryId::ROOT {
            Some(id == base)
        } else {
            remembered.get(&id).copied()
        };
        if let Some(below) = known {
            if remembered.len() >= REMEMBERED_MAX {
                remembered.clear();
            }
            remembered.insert(first, below);
            debug_assert!(remembered.len() <= REMEMBERED_MAX, "memory is bounded");
            return Ok(below);
        }
        id = view.record_names(id)?.ok_or(Damage::Parents)?.parent();
    }
    Err(Damage::Parents.into())
}

/// A planned filter within a scope.
pub(crate) enum ScopedPlan {
    /// The plan is complete, with this test for each candidate.
    Ready(TermPlan, ScopeTest),
    /// The entries of the scope have to be listed and intersected with the plan.
    List(TermPlan, Listing),
}

/// Restricts a planned filter to a scope. A short scope is listed, a longer one tested.
pub(crate) fn narrow<T: Snapshot>(
    view: &View<'_, T>,
    base: EntryId,
    scope: Scope,
    total: u64,
    planned: TermPlan,
) -> Result<ScopedPlan, StoreError> {
    // Everything is below the empty suffix, and no count says how many entries are at the top.
    if base == EntryId::ROOT {
        return Ok(match scope {
            Scope::OneLevel => ScopedPlan::List(planned, Listing::new(base, scope)),
            // The root is no entry.
            Scope::Base => ScopedPlan::Ready(TermPlan::nothing(), ScopeTest::None),
            Scope::Subtree | Scope::Subordinates => ScopedPlan::Ready(planned, ScopeTest::None),
        });
    }
    let counts = view.stored_counts(base)?;
    let size = match scope {
        Scope::Base => {
            return Ok(ScopedPlan::Ready(
                TermPlan {
                    count_max: 1,
                    exact: false,
                    term: Term::Ids(vec![base]),
                },
                ScopeTest::None,
            ));
        }
        Scope::OneLevel => counts.children,
        Scope::Subtree => counts.descendants + 1,
        Scope::Subordinates => counts.descendants,
    };
    if size >= total {
        return Ok(ScopedPlan::Ready(planned, ScopeTest::None));
    }
    let count_max = planned.count_max.min(size);
    let list = size <= LISTED_MAX && size < planned.count_max / 2;
    let planned = TermPlan {
        count_max,
        ..planned
    };
    debug_assert!(
        planned.count_max <= size,
        "no more candidates than the scope has"
    );
    Ok(if list || size == 0 {
        ScopedPlan::List(planned, Listing::new(base, scope))
    } else {
        ScopedPlan::Ready(planned, ScopeTest::of(base, scope))
    })
}

fn below(base: EntryId, itself: bool) -> ScopeTest {
    ScopeTest::Below {
        base,
        itself,
        remembered: FxHashMap::default(),
    }
}
