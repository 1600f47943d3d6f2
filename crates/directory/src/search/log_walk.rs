//! Searches of the tree that shows logs of changes: a walk over all records, in bounded steps.
//!
//! Between steps it holds no snapshot. Records that the log drops meanwhile are skipped, and newer
//! ones are left out.

use std::sync::Arc;

use fulgurite_access::{Decisions, EntryRights, Rights};
use fulgurite_ldap::{LdapResult, MessageId, ResultCode, Scope};
use fulgurite_schema::{AttributeSelector, Entry, Filter};
use fulgurite_store::StoreError;

use super::generated::GeneratedSearch;
use super::log_bounds::LogBounds;
use super::log_records::{LogPlace, LogRecords, LogViews, NextRecord};
use super::output::SearchEnd;
use super::run::Quantum;
use super::sort_plan::{SortPlan, SortState};
use super::sorted_entries::SortedEntries;
use crate::core::foundation::Core;
use crate::core::result::{self, OpResult};
use crate::directory::Directory;
use crate::generated::access_log::AccessLog;
use crate::generated::tree::{GeneratedEntry, Tree};
use crate::rights::facts::UnstoredFacts;
use crate::rights::projection::Projection;
use crate::rights::visible_entry::VisibleEntry;

/// A search below the top of the tree.
pub(crate) struct LogWalk<'d> {
    core: &'d Core,
    log: &'d AccessLog,
    decisions: Decisions<'d>,
    id: MessageId,
    filter: Arc<Filter<AttributeSelector>>,
    projection: Projection,
    size_max: Option<u32>,
    time_us_max: Option<u64>,
    started_us: u64,
    /// The entry at the top, if it is in scope and not yet examined.
    top: Option<Box<Entry>>,
    bounds: Arc<LogBounds>,
    /// The next records; `None` before the first step.
    place: Option<LogPlace>,
    sorted: Option<Box<SortedEntries>>,
    /// Holds the slot of a sorted search.
    _sorting: SortState,
    pub(crate) sent: u32,
    pub(crate) examined: u64,
    pub(crate) worked: usize,
}

/// The output of one step, and its bounds.
struct Step<'o> {
    out: &'o mut Vec<u8>,
    bytes_end: usize,
    left: usize,
}

impl<'d> LogWalk<'d> {
    /// Begins a search whose base is the top of the tree.
    ///
    /// # Errors
    /// The refusal of a requester that may not search there.
    pub(super) fn begin(
        directory: &'d Directory,
        (tree, log): (&'d Tree, &'d AccessLog),
        search: GeneratedSearch<'_>,
        plan: SortPlan,
    ) -> OpResult<Box<LogWalk<'d>>> {
        let (query, core) = (search.query, directory.core());
        let decisions = tree.decisions(search.session);
        let top = log
            .top(&core.schema)
            .map_err(|error| result::store(&error))?;
        let top = GeneratedEntry::plain(top);
        search.require_base(&decisions, std::slice::from_ref(&top))?;
        let (sorted, sorting) = search.sorted_entries(plan);
        let has_top = query.request.scope == Scope::Subtree;
        Ok(Box::new(LogWalk {
            core,
            log,
            decisions,
            id: query.id,
            filter: Arc::clone(&query.filter),
            size_max: query.limits.size_max,
            time_us_max: query.limits.time_us_max,
            started_us: core.clock.elapsed_us(),
            projection: search.projection,
            top: has_top.then(|| Box::new(top.entry)),
            bounds: Arc::new(LogBounds::of(&core.schema, &query.filter)),
            place: None,
            sorted: sorted.map(Box::new),
            _sorting: sorting,
            sent: 0,
            examined: 0,
            worked: 0,
        }))
    }

    /// Works for one quantum. Returns the end once it is reached.
    pub(crate) fn advance(&mut self, out: &mut Vec<u8>, quantum: Quantum) -> Option<SearchEnd> {
        let candidates_max = quantum.candidates_max.max(1);
        let elapsed = self.core.clock.elapsed_us().saturating_sub(self.started_us);
        if self.time_us_max.is_some_and(|limit| elapsed >= limit) {
            return Some(plain(ResultCode::TimeLimitExceeded));
        }
        let mut step = Step {
            bytes_end: out.len().saturating_add(quantum.bytes_max),
            out,
            left: candidates_max,
        };
        let end = self.work(&mut step);
        self.worked = candidates_max - step.left;
        self.examined += self.worked as u64;
        end.unwrap_or_else(|error| Some(SearchEnd::plain(result::store(&error))))
    }

    fn work(&mut self, step: &mut Step<'_>) -> Result<Option<SearchEnd>, StoreError> {
        if let Some(top) = self.top.take()
            && let Some(end) = self.candidate(&top, step.out)
        {
            return Ok(Some(end));
        }
        let (log, schema) = (self.log, &self.core.schema);
        let bounds = Arc::clone(&self.bounds);
        let views = LogViews::open(log, self.place.is_none())?;
        let mut place = match self.place.take() {
            Some(place) => place,
            None => LogPlace::begin(&views, &bounds)?,
        };
        let mut records = LogRecords::new(schema, &bounds, &views);
        let end = loop {
            if step.out.len() >= step.bytes_end {
                break None;
            }
            match records.next(&mut place, &mut step.left)? {
                NextRecord::Record(record) => {
                    if let Some(entry) = record.entry(log, schema)?
                        && let Some(end) = self.candidate(&entry, step.out)
                    {
                        break Some(end);
                    }
                }
                NextRecord::Pause => break None,
                NextRecord::End => break Some(self.finish(step.out)),
            }
        };
        self.place = Some(place);
        Ok(end)
    }

    /// Writes an entry that matches. Returns the end at the size limit.
    fn candidate(&mut self, entry: &Entry, out: &mut Vec<u8>) -> Option<SearchEnd> {
        let schema = &self.core.schema;
        let facts = UnstoredFacts::unstored(self.core, Some(entry));
        let rights = self.decisions.at(entry.dn.normal(), &facts);
        if !self.matches(entry, rights) {
            return None;
        }
        if let Some(sorted) = &mut self.sorted {
            let mut encoded = Vec::new();
            self.projection
                .write_unstored(&mut encoded, self.id, entry, schema, rights);
            sorted.push(schema, entry, rights, encoded);
            return None;
        }
        if self.size_max.is_some_and(|max| self.sent >= max) {
            return Some(plain(ResultCode::SizeLimitExceeded));
        }
        self.projection
            .write_unstored(out, self.id, entry, schema, rights);
        self.sent += 1;
        None
    }

    fn matches(&self, entry: &Entry, rights: EntryRights<'_>) -> bool {
        let schema = &self.core.schema;
        let visible = VisibleEntry {
            schema,
            entry,
            rights,
            needed: Rights::SEARCH,
        };
        rights.entry().allows(Rights::READ) && self.filter.test(schema, &visible).is_true()
    }

    /// Writes the sorted entries, if the search is sorted.
    fn finish(&mut self, out: &mut Vec<u8>) -> SearchEnd {
        let Some(sorted) = self.sorted.take() else {
            return plain(ResultCode::Success);
        };
        let complete = sorted.finish(self.size_max);
        out.extend_from_slice(&complete.encoded);
        self.sent += complete.entries;
        complete.end
    }
}

fn plain(code: ResultCode) -> SearchEnd {
    SearchEnd::plain(LdapResult::new(code))
}
