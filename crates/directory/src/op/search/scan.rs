//! A search in a store, in steps.

use fulgurite_access::{Decisions, Level};
use fulgurite_ldap::{LdapResult, MessageId, ResultCode, Scope, encode};
use fulgurite_schema::{AttributeSelector, Filter};
use fulgurite_store::{Candidates, DnCache, EntryId, EntryView, ParkedView, StoreError, View};

use super::page::Page;
use super::shown::Shown;
use super::subject::{Seen, Tested};
use crate::answer;
use crate::directory::Directory;
use crate::limits::SearchLimits;
use crate::names::NormalNames;
use crate::referral;

/// How much a search may do before it lets others work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantum {
    /// Candidates to look at; fewer if the filter is a large one.
    pub candidates_max: usize,
    /// Octets to write; the entry that reaches this is still written whole.
    pub bytes_max: usize,
}

impl Default for Quantum {
    /// About a millisecond of work.
    fn default() -> Quantum {
        Quantum {
            candidates_max: 1024,
            bytes_max: 1 << 18,
        }
    }
}

/// Filter items that a candidate may be tested against at the price of one.
const FILTER_WEIGHT_FREE: usize = 16;

/// How a search came to its end.
pub(crate) struct End {
    pub(crate) result: LdapResult,
    /// Where the next page begins, empty after the last; `None` for a search that is not paged.
    pub(crate) cookie: Option<Vec<u8>>,
}

/// A search on its way through candidates.
pub(crate) struct Scan<'d> {
    pub(crate) directory: &'d Directory,
    pub(crate) id: MessageId,
    pub(crate) decisions: Decisions<'d>,
    pub(crate) candidates: Candidates,
    pub(crate) shown: Shown,
    pub(crate) limits: SearchLimits,
    pub(crate) page: Option<Page>,
    /// The scope searched, if referral objects are to be returned as references.
    references: Option<Scope>,
    state: Option<Held<'d>>,
    filter: Filter<AttributeSelector>,
    /// What a candidate counts of a quantum.
    candidate_cost: usize,
    tested: Tested,
    /// Whether the view is still the one the plan was made on.
    planned_here: bool,
    started_us: u64,
    view_since_us: u64,
    sent: u32,
    last_sent: EntryId,
    names: DnCache,
    normals: NormalNames,
    name: String,
    normal: String,
}

/// The snapshot, or the place among the readers that a resting search keeps.
enum Held<'d> {
    View(View<'d>),
    Parked(ParkedView<'d>),
}

/// What a candidate came to.
enum Verdict {
    Passed,
    Sent,
    End(End),
}

impl<'d> Scan<'d> {
    pub(crate) fn new(
        directory: &'d Directory,
        id: MessageId,
        decisions: Decisions<'d>,
        (view, candidates): (View<'d>, Candidates),
        filter: Filter<AttributeSelector>,
        shown: Shown,
        limits: SearchLimits,
    ) -> Scan<'d> {
        let tested = Tested::new(filter.clone(), &directory.known, &view, &decisions);
        let now = directory.clock.elapsed_us();
        Scan {
            directory,
            id,
            decisions,
            candidates,
            shown,
            limits,
            page: None,
            references: None,
            state: Some(Held::View(view)),
            // Testing a candidate against a filter of thousands of items takes as long as writing thousands of entries.
            candidate_cost: 1 + filter.weight() / FILTER_WEIGHT_FREE,
            filter,
            tested,
            planned_here: true,
            started_us: now,
            view_since_us: now,
            sent: 0,
            last_sent: EntryId(0),
            names: DnCache::new(),
            normals: NormalNames::default(),
            name: String::new(),
            normal: String::new(),
        }
    }

    pub(crate) fn sent(&self) -> u32 {
        self.sent
    }

    /// Returns one page only, starting where the one before ended.
    pub(crate) fn paged(mut self, page: Page) -> Scan<'d> {
        self.candidates.seek(page.after);
        self.last_sent = page.after;
        self.page = Some(page);
        self
    }

    /// Returns referral objects as references; the plan offers them as candidates.
    pub(crate) fn with_references(mut self, scope: Scope) -> Scan<'d> {
        self.references = Some(scope);
        self
    }

    /// Gives up the snapshot until the next step.
    pub(crate) fn park(&mut self) {
        self.state = match self.state.take() {
            Some(Held::View(view)) => Some(Held::Parked(view.park())),
            other => other,
        };
    }

    /// Works for one quantum; the end once it is reached.
    pub(crate) fn advance(&mut self, out: &mut Vec<u8>, quantum: Quantum) -> Option<End> {
        let now = self.directory.clock.elapsed_us();
        let limit = self.limits.time_us_max;
        if limit.is_some_and(|limit| now.saturating_sub(self.started_us) >= limit) {
            return Some(self.end(ResultCode::TimeLimitExceeded));
        }
        let stepped = self.current_view(now).and_then(|view| {
            let end = self.scan(&view, out, quantum);
            self.state = Some(Held::View(view));
            end
        });
        stepped.unwrap_or_else(|error| Some(self.failed(&error)))
    }

    /// The snapshot to work on: the one at hand unless it has been parked or has grown old.
    fn current_view(&mut self, now: u64) -> Result<View<'d>, StoreError> {
        let age_max = u64::from(self.directory.limits.snapshot_s_max) * 1_000_000;
        let old = age_max > 0 && now.saturating_sub(self.view_since_us) >= age_max;
        let view = match self.state.take() {
            Some(Held::View(view)) if !old => return Ok(view),
            Some(Held::View(mut view)) => {
                view.refresh()?;
                view
            }
            Some(Held::Parked(parked)) => parked.resume()?,
            None => return Err(StoreError::Poisoned),
        };
        self.planned_here = false;
        self.view_since_us = now;
        self.names.clear();
        self.normals.clear();
        let directory = self.directory;
        let filter = self.filter.clone();
        self.tested = Tested::new(filter, &directory.known, &view, &self.decisions);
        Ok(view)
    }

    fn scan(
        &mut self,
        view: &View<'d>,
        out: &mut Vec<u8>,
        quantum: Quantum,
    ) -> Result<Option<End>, StoreError> {
        let bytes_end = out.len().saturating_add(quantum.bytes_max);
        let mut candidates_left = (quantum.candidates_max / self.candidate_cost).max(1);
        while candidates_left > 0 && out.len() < bytes_end {
            let next = self
                .candidates
                .next_entry_within(view, &mut candidates_left)?;
            let Some(entry) = next else {
                let exhausted = candidates_left > 0;
                return Ok(exhausted.then(|| self.end(ResultCode::Success)));
            };
            match self.candidate(view, &entry, out)? {
                Verdict::Passed => {}
                Verdict::Sent => {
                    self.sent += 1;
                    self.last_sent = entry.id();
                }
                Verdict::End(end) => return Ok(Some(end)),
            }
        }
        Ok(None)
    }

    /// Tests one candidate and writes it if it is to be returned.
    fn candidate(
        &mut self,
        view: &View<'d>,
        entry: &EntryView<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Verdict, StoreError> {
        let uniform = self.decisions.uniform();
        if !uniform {
            self.normals.write(view, entry, &mut self.normal)?;
        }
        let rights = self.decisions.at(&self.normal);
        if rights.entry() < Level::Read {
            return Ok(Verdict::Passed);
        }
        if let Some(scope) = self.references
            && referral::is_referral(entry, &self.directory.known)
        {
            return self.reference(view, entry, scope, out);
        }
        let exact = self.candidates.is_exact()
            && self.references.is_none()
            && self.planned_here
            && self.tested.plain;
        let seen = Seen {
            entry: *entry,
            view,
            rights,
            check: !uniform,
        };
        if !exact && !self.tested.filter.test(view.schema(), &seen).is_true() {
            return Ok(Verdict::Passed);
        }
        if let Some(end) = self.full() {
            return Ok(Verdict::End(end));
        }
        self.name.clear();
        entry.write_dn(&mut self.names, &mut self.name)?;
        let decisions = (&self.decisions, rights);
        self.shown
            .write_stored(out, self.id, entry, view, &self.name, decisions)?;
        Ok(Verdict::Sent)
    }

    /// Writes a search reference, which counts against no limit.
    fn reference(
        &mut self,
        view: &View<'d>,
        entry: &EntryView<'_>,
        scope: Scope,
        out: &mut Vec<u8>,
    ) -> Result<Verdict, StoreError> {
        let known = &self.directory.known;
        let rights = self.decisions.at(&self.normal);
        if rights.attribute(known.reference.attribute) < Level::Read {
            return Ok(Verdict::Passed);
        }
        let object = view.resolved_dn(entry.id())?;
        let urls = referral::reference(entry, known, &object, scope);
        if !urls.is_empty() {
            encode::search_reference(out, self.id, urls.iter().map(String::as_str), &[]);
        }
        Ok(Verdict::Passed)
    }

    /// The end, if one entry more is one too many.
    fn full(&self) -> Option<End> {
        let before = self.page.map_or(0, |page| page.returned);
        let total = before.saturating_add(self.sent);
        if self.limits.size_max.is_some_and(|max| total >= max) {
            return Some(self.end(ResultCode::SizeLimitExceeded));
        }
        let page = self.page.filter(|page| self.sent >= page.size)?;
        Some(End {
            result: LdapResult::success(),
            cookie: Some(page.cookie(self.last_sent, self.sent)),
        })
    }

    fn end(&self, code: ResultCode) -> End {
        End {
            result: LdapResult::new(code),
            cookie: self.page.map(|_| Vec::new()),
        }
    }

    fn failed(&self, error: &StoreError) -> End {
        End {
            result: answer::store(error),
            cookie: None,
        }
    }
}
