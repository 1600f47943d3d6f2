//! The entries of a scope, listed in steps of bounded size.

use super::search_scope::Scope;
use super::term::Term;
use super::term_plan::TermPlan;
use crate::error::StoreError;
use crate::ids::EntryId;
use crate::idset::IdSet;
use crate::view::View;
use fulgurite::Snapshot;

/// A walk down the tree of names. It borrows nothing, so it can pause between two steps.
#[derive(Debug)]
pub(crate) struct Listing {
    found: IdSet,
    /// Parents whose children are still to be listed.
    parents: Vec<EntryId>,
    /// The parent being listed, with the key of the last list read.
    now: Option<(EntryId, Option<Vec<u8>>)>,
    deep: bool,
}

impl Listing {
    pub(crate) fn new(base: EntryId, scope: Scope) -> Listing {
        let mut found = IdSet::default();
        if matches!(scope, Scope::Base | Scope::Subtree) {
            found.insert(base);
        }
        Listing {
            found,
            parents: Vec::new(),
            now: (scope != Scope::Base).then_some((base, None)),
            deep: matches!(scope, Scope::Subtree | Scope::Subordinates),
        }
    }

    /// Lists some more entries, and counts `left` down for each. Returns true if all are listed.
    pub(crate) fn step<T: Snapshot>(
        &mut self,
        view: &View<'_, T>,
        left: &mut usize,
    ) -> Result<bool, StoreError> {
        while let Some((parent, from)) = self.now.take() {
            let mut children = Vec::new();
            let rest = view.some_children(parent, from, left, &mut children)?;
            for child in children {
                self.found.insert(child);
                // Only entries with children have counts. A leaf costs one look-up in a small
                // table.
                if self.deep && view.stored_counts(child)?.children > 0 {
                    self.parents.push(child);
                }
            }
            debug_assert!(
                self.deep || self.parents.is_empty(),
                "one level lists no grandchildren"
            );
            if let Some(key) = rest {
                self.now = Some((parent, Some(key)));
                return Ok(false);
            }
            self.now = self.parents.pop().map(|next| (next, None));
            if *left == 0 && self.now.is_some() {
                return Ok(false);
            }
        }
        debug_assert!(self.parents.is_empty(), "no parent is left");
        Ok(true)
    }

    /// Intersects the listed entries with a plan.
    pub(crate) fn intersect(self, planned: TermPlan) -> TermPlan {
        debug_assert!(
            self.now.is_none() && self.parents.is_empty(),
            "all are listed"
        );
        let listed = if self.found.next_chunk(0).is_some() {
            Term::Set(std::sync::Arc::new(self.found))
        } else {
            Term::Nothing
        };
        let term = match planned.term {
            Term::All => listed,
            term => Term::And(vec![listed, term]),
        };
        TermPlan { term, ..planned }
    }
}
