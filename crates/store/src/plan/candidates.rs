//! Candidates of a search: the ids of a plan, read one chunk at a time.

use super::scope::ScopeTest;
use super::search_scope::Scope;
use super::term::{Term, TermSource};
use super::term_plan::TermPlan;
use crate::error::StoreError;
use crate::ids::EntryId;
use crate::idset::{Bitmap, join, split};
use crate::index::key;
use crate::view::{EntryView, EntryWalk, View};
use fulgurite::Snapshot;

/// Entries that may match a search, in ascending order of ids, read as they are needed.
///
/// The candidates borrow nothing, so they can move to another view. After [`View::refresh`] some of
/// them are of the old state. From then on the filter has to be tested, whatever
/// [`is_exact`](Self::is_exact) returns.
#[derive(Debug)]
pub struct Candidates {
    pub(super) term: Term,
    pub(super) scope: ScopeTest,
    pub(super) exact: bool,
    pub(super) count_max: u64,
    /// The requested scope, for a test where the plan gives no guarantee.
    within: (EntryId, Scope),
    /// The chunk in `bits`; `None` before the first and after the last.
    chunk: Option<u32>,
    bits: Option<Box<Bitmap>>,
    /// The lowest id that may come next, if the term is a short list.
    from: EntryId,
    /// Next position in the chunk, or in the next chunk if none is loaded.
    position: usize,
    next_chunk: Option<u32>,
}

impl Candidates {
    pub(super) fn new(planned: TermPlan, scope: ScopeTest, within: (EntryId, Scope)) -> Candidates {
        debug_assert!(
            !matches!(&planned.term, Term::Ids(ids) if !ids.is_sorted()),
            "candidates ascend"
        );
        Candidates {
            within,
            term: planned.term,
            scope,
            exact: planned.exact,
            count_max: planned.count_max,
            chunk: None,
            bits: None,
            from: EntryId(0),
            position: 0,
            next_chunk: Some(0),
        }
    }

    /// Returns true if every candidate matches the filter, so that it need not be tested.
    ///
    /// The statement is about stored entries. A filter that may not see some attributes still has
    /// to be tested.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Returns an upper bound of the number of candidates. For an exact plan over single postings,
    /// it is the number of matches.
    #[must_use]
    pub fn count_max(&self) -> u64 {
        self.count_max
    }

    /// Continues on another state of the store than that of the plan. The scope is tested again
    /// here, the filter by the caller.
    pub fn mark_inexact(&mut self) {
        self.exact = false;
        let (base, scope) = self.within;
        self.scope = ScopeTest::of(base, scope);
    }

    /// Continues behind an id, for paged results. The next candidate is the first one above the id.
    pub fn seek(&mut self, after: EntryId) {
        self.from = EntryId(after.0.saturating_add(1));
        debug_assert!(self.from > after || after.0 == u64::MAX, "a seek moves on");
        let (chunk, low) = split(self.from);
        self.chunk = None;
        self.next_chunk = Some(chunk);
        self.position = usize::from(low);
    }

    /// Returns the next candidate.
    ///
    /// # Errors
    /// [`StoreError`] if the engine fails, or an index or a record is damaged.
    pub fn next<T: Snapshot>(&mut self, view: &View<'_, T>) -> Result<Option<EntryId>, StoreError> {
        if self.scope.is_none() {
            return self.next_id(view);
        }
        Ok(self.next_entry(view)?.map(|entry| entry.id()))
    }

    /// Returns the next candidate with its entry. It skips ids without an entry: these entries were
    /// deleted after the plan was made.
    ///
    /// # Errors
    /// [`StoreError`] if the engine fails, or an index or a record is damaged.
    pub fn next_entry<'v, T: Snapshot>(
        &mut self,
        view: &'v View<'_, T>,
    ) -> Result<Option<EntryView<'v>>, StoreError> {
        while let Some(id) = self.next_id(view)? {
            let Some(entry) = view.entry(id)? else {
                continue;
            };
            if self.scope.admits(view, id, entry.record())? {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    /// As [`next_entry`](Self::next_entry), but reads at most `quantum` ids and counts it down. So
    /// a search over many entries outside the scope can be interrupted. `walk` belongs to the view.
    /// At zero with `None` there may be more candidates.
    ///
    /// # Errors
    /// [`StoreError`] if the engine fails, or an index or a record is damaged.
    pub fn next_entry_within<'v, T: Snapshot>(
        &mut self,
        view: &'v View<'_, T>,
        walk: &mut EntryWalk<'v>,
        quantum: &mut usize,
    ) -> Result<Option<EntryView<'v>>, StoreError> {
        while *quantum > 0 {
            if walk.is_behind()
                && let Term::Ids(ids) = &self.term
            {
                let next = ids.partition_point(|id| *id < self.from);
                let end = ids.len().min(next.saturating_add(*quantum));
                walk.look_ahead(view, ids.get(next..end).unwrap_or_default())?;
            }
            let Some(id) = self.next_id(view)? else {
                return Ok(None);
            };
            *quantum -= 1;
            let Some(entry) = walk.entry(view, id)? else {
                continue;
            };
            if self.scope.admits(view, id, entry.record())? {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    fn next_id<T: Snapshot>(&mut self, view: &View<'_, T>) -> Result<Option<EntryId>, StoreError> {
        // Mostly this is one id, from a unique attribute.
        if let Term::Ids(ids) = &self.term {
            let at = ids.partition_point(|id| *id < self.from);
            let next = ids.get(at).copied();
            debug_assert!(next.is_none_or(|id| id >= self.from), "candidates ascend");
            self.from = next.map_or(self.from, |id| EntryId(id.0.saturating_add(1)));
            return Ok(next);
        }
        loop {
            if let (Some(chunk), Some(bits)) = (self.chunk, &self.bits) {
                if let Some(low) = bits.next(self.position) {
                    debug_assert!(usize::from(low) >= self.position, "candidates ascend");
                    self.position = usize::from(low) + 1;
                    return Ok(Some(join(chunk, low)));
                }
                self.chunk = None;
                self.next_chunk = chunk.checked_add(1);
                self.position = 0;
            }
            if !self.load_next(view)? {
                return Ok(None);
            }
        }
    }

    /// Loads the next chunk that may contain candidates. Returns false if there is none.
    fn load_next<T: Snapshot>(&mut self, view: &View<'_, T>) -> Result<bool, StoreError> {
        let Some(wanted) = self.next_chunk else {
            return Ok(false);
        };
        let all_entries = key::all_entries();
        let source = TermSource {
            txn: &view.txn,
            dbs: view.store.dbs,
            all_entries: &all_entries,
        };
        let Some(chunk) = self.term.next_chunk(&source, wanted)? else {
            self.next_chunk = None;
            return Ok(false);
        };
        debug_assert!(chunk >= wanted, "chunks ascend");
        if chunk != wanted {
            self.position = 0;
        }
        let bits = self.bits.get_or_insert_with(|| Box::new(Bitmap::new()));
        bits.clear();
        self.term.load(&source, chunk, bits)?;
        self.chunk = Some(chunk);
        Ok(true)
    }
}
