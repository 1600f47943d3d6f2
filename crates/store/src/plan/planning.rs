//! Planning in steps. A filter of thousands of items or a scope of a million entries delays no
//! other request.
//!
//! ```text
//!   large filter: items, some at a time --> filter as a whole --> scope: test it, or list it some at a time
//!   small filter: ------------------------^
//! ```

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::builder::{Builder, address};
use super::candidates::Candidates;
use super::listing::Listing;
use super::scope::{ScopeTest, ScopedPlan, narrow};
use super::search_scope::Scope;
use super::term_plan::TermPlan;
use crate::error::StoreError;
use crate::ids::EntryId;
use crate::view::View;
use fulgurite::Snapshot;
use fulgurite_schema::{AttributeSelector, Filter};

/// Filters with at most this number of items are planned in one step.
const ITEMS_AT_ONCE: usize = 256;

/// A plan that is being made. It borrows nothing. If the state of the store changes between two
/// steps, it may miss entries that were added after it began.
#[derive(Debug)]
pub struct Planning {
    base: EntryId,
    scope: Scope,
    /// Allocated separately, because items are identified by their addresses.
    filter: Arc<Filter<AttributeSelector>>,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Items {
        prepared: FxHashMap<usize, TermPlan>,
        chunks_left: Option<usize>,
        next: usize,
    },
    Listing(TermPlan, Box<Listing>),
    Done,
}

impl View<'_> {
    /// Plans a search: the candidates for `filter` within `scope` of `base`, which must exist.
    ///
    /// Cost: a look-up for each item with an index, and a scan of keys for ranges and short
    /// substrings.
    /// # Errors
    /// [`StoreError`] if the engine fails or an index is damaged.
    pub fn plan(
        &self,
        base: EntryId,
        scope: Scope,
        filter: &Filter<AttributeSelector>,
    ) -> Result<Candidates, StoreError> {
        plan(self, base, scope, filter)
    }

    /// Begins to plan a search; see [`Planning::step`].
    #[must_use]
    pub fn begin_plan(
        &self,
        base: EntryId,
        scope: Scope,
        filter: &Arc<Filter<AttributeSelector>>,
    ) -> Planning {
        Planning::new(base, scope, Arc::clone(filter))
    }
}

pub(crate) fn plan<T: Snapshot>(
    view: &View<'_, T>,
    base: EntryId,
    scope: Scope,
    filter: &Filter<AttributeSelector>,
) -> Result<Candidates, StoreError> {
    let mut planning = Planning::new(base, scope, Arc::new(filter.clone()));
    loop {
        let mut unlimited = usize::MAX;
        if let Some(candidates) = planning.step(view, &mut unlimited)? {
            return Ok(candidates);
        }
    }
}

impl Planning {
    fn new(base: EntryId, scope: Scope, filter: Arc<Filter<AttributeSelector>>) -> Planning {
        Planning {
            base,
            scope,
            filter,
            stage: Stage::Items {
                prepared: FxHashMap::default(),
                chunks_left: None,
                next: 0,
            },
        }
    }

    /// Plans a part: `left` counts down with items looked up and entries listed. Returns the
    /// candidates once they are known. With `None` the plan is not ready, and another step
    /// continues it.
    /// # Errors
    /// [`StoreError`] if the engine fails or an index is damaged.
    pub fn step<T: Snapshot>(
        &mut self,
        view: &View<'_, T>,
        left: &mut usize,
    ) -> Result<Option<Candidates>, StoreError> {
        match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::Items {
                prepared,
                chunks_left,
                next,
            } => self.items(view, left, prepared, chunks_left, next),
            Stage::Listing(planned, mut listing) => {
                if !listing.step(view, left)? {
                    self.stage = Stage::Listing(planned, listing);
                    return Ok(None);
                }
                Ok(Some(
                    self.finish(listing.intersect(planned), ScopeTest::None),
                ))
            }
            Stage::Done => Ok(Some(self.finish(TermPlan::nothing(), ScopeTest::None))),
        }
    }

    fn items<T: Snapshot>(
        &mut self,
        view: &View<'_, T>,
        left: &mut usize,
        prepared: FxHashMap<usize, TermPlan>,
        chunks_left: Option<usize>,
        next: usize,
    ) -> Result<Option<Candidates>, StoreError> {
        let total = view.entry_count()?;
        let mut builder = Builder::new(view, total);
        if let Some(chunks_left) = chunks_left {
            builder = builder.with_chunks_left(chunks_left);
        }
        *builder.prepared.borrow_mut() = prepared;
        let items_len = match self.scope {
            Scope::Base => 0,
            _ => count_items(&self.filter),
        };
        // Both hold the plans of items by address, so the filter must not have moved.
        debug_assert!(builder.prepared.borrow().len() <= items_len);
        if items_len > ITEMS_AT_ONCE && next < items_len {
            self.stage = self.some_items(builder, left, (next, items_len))?;
            return Ok(None);
        }
        // Looking up so few items takes no longer than reading a candidate.
        *left = left.saturating_sub(items_len / 16);
        let planned = if self.scope == Scope::Base {
            TermPlan::nothing()
        } else {
            builder.filter(&self.filter, false)?
        };
        match narrow(view, self.base, self.scope, total, planned)? {
            ScopedPlan::Ready(planned, test) => Ok(Some(self.finish(planned, test))),
            ScopedPlan::List(planned, listing) => {
                self.stage = Stage::Listing(planned, Box::new(listing));
                Ok(None)
            }
        }
    }

    /// Looks up some items of a large filter, from a position.
    fn some_items<T: Snapshot>(
        &self,
        builder: Builder<'_, '_, T>,
        left: &mut usize,
        (next, items_len): (usize, usize),
    ) -> Result<Stage, StoreError> {
        let mut items = Vec::with_capacity(items_len);
        collect_items(&self.filter, &mut items);
        let mut done = next;
        for item in items.iter().skip(next) {
            if *left == 0 {
                break;
            }
            *left -= 1;
            done += 1;
            let planned = builder.item(item)?;
            builder.prepared.borrow_mut().insert(address(item), planned);
        }
        debug_assert!((next..=items_len).contains(&done), "steps move on");
        Ok(Stage::Items {
            chunks_left: Some(builder.chunks_left()),
            prepared: builder.prepared.into_inner(),
            next: done,
        })
    }

    fn finish(&self, planned: TermPlan, test: ScopeTest) -> Candidates {
        Candidates::new(planned, test, (self.base, self.scope))
    }
}

/// Returns the number of items of a filter.
fn count_items(filter: &Filter<AttributeSelector>) -> usize {
    match filter {
        Filter::And(list) | Filter::Or(list) => list.iter().map(count_items).sum(),
        Filter::Not(part) => count_items(part),
        _ => 1,
    }
}

/// Collects the items of a filter, in order.
fn collect_items<'f>(
    filter: &'f Filter<AttributeSelector>,
    items: &mut Vec<&'f Filter<AttributeSelector>>,
) {
    match filter {
        Filter::And(list) | Filter::Or(list) => {
            list.iter().for_each(|part| collect_items(part, items));
        }
        Filter::Not(part) => collect_items(part, items),
        item => items.push(item),
    }
}
