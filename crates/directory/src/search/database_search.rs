//! The part of a search within one database, in stages.
//!
//! ```text
//!   in-chain items -> aliases: which regions -> each region: plan -> candidates -> filter -> rights -> output
//! ```
//!
//! A part can be parked at any point. It then gives up its snapshot, and continues with a newer one
//! at the next candidate. Entries are returned as they are at that time, and exact plans are no
//! longer trusted.
//!
//! ```text
//! plan    the filter of the plan, in-chain items, groups     test    the test of a candidate
//! walk    snapshots, regions of aliases, candidates          order   sorted lists
//! refresh_order    parents first, for a full refresh         lists   dynamic lists
//! ```

mod entry_controls;
mod lists;
mod order;
mod plain;
mod plan;
mod refresh_order;
mod test;
mod walk;

use std::sync::Arc;

use fulgurite_access::{Decisions, Rights, RightsClass};
use fulgurite_ldap::{LdapResult, ResultCode, Scope};
use fulgurite_schema::{AttributeSelector, Filter};
use fulgurite_store::{DnCache, EntryView, ParkedView, StoreError, View};

use self::entry_controls::{write_synchronised, write_with_controls};
pub(crate) use self::plain::PlainSearch;
use super::candidates::CandidateScan;
use super::chain::Chains;
use super::filter::PreparedFilter;
use super::filter_shape::filter_shape;
use super::list_state::ListState;
use super::member_items::{self, MemberItems};
use super::output::{Output, SearchEnd};
use super::regions::{Region, Regions, store_scope};
use super::sort::{EntryPosition, SortItem};
use crate::core::clock::Timestamp;
use crate::core::database::Database;
use crate::core::foundation::Core;
use crate::core::slow_searches::SlowSearch;
use crate::rights::facts::{EntryFacts, EntrySource};
use crate::rights::projection::{AttributeRights, EntryCaches, StoredEntry};
use crate::rights::requester_rights::RequesterRights;
use crate::search::normal_names::NormalNames;

/// The number of filter items that a candidate is tested against at the cost of one candidate.
const FILTER_WEIGHT_FREE: usize = 16;

/// The cost of a look-up of a candidate's groups, in candidates.
const MEMBERSHIP_COST: usize = 8;

/// The number of filter items up to which a search is planned anew for its description.
const REPLANNED_MAX: usize = 64;

/// The visibility of subentries in a search (RFC 3672).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubentryVisibility {
    /// No subentries, except the base of a search with base scope.
    AsNamed,
    /// Only subentries.
    OnlySubentries,
    /// No subentries.
    NoSubentries,
}

impl SubentryVisibility {
    pub(crate) fn admits(self, is_subentry: bool) -> bool {
        is_subentry == (self == SubentryVisibility::OnlySubentries)
    }
}

/// The specification that all parts of a search share.
#[derive(Clone)]
pub(crate) struct SearchSpec {
    pub(crate) filter: Arc<Filter<AttributeSelector>>,
    /// True if the search follows aliases below the base.
    pub(crate) deref: bool,
    /// True if referral objects are returned as references.
    pub(crate) references: bool,
    /// True if referral objects are skipped.
    pub(crate) hides_referrals: bool,
    /// True if glue is skipped.
    pub(crate) hides_glue: bool,
    pub(crate) visible: SubentryVisibility,
    /// True if dynamic lists show what is stored.
    pub(crate) stored_only: bool,
}

/// The part of a search within one database.
pub(crate) struct DatabaseSearch<'d> {
    core: &'d Core,
    database: &'d Database,
    number: u16,
    decisions: Decisions<'d>,
    held: Option<SnapshotState<'d>>,
    /// The time the snapshot was taken, and the candidates examined before.
    since_us: u64,
    examined_before: u64,
    base: Region,
    spec: SearchSpec,
    /// The filter of the plan. It includes referral objects if references are returned.
    planned: Arc<Filter<AttributeSelector>>,
    /// True if candidates must be tested for being subentries.
    subentries: bool,
    /// True if each entry that matches the filter is returned as it is.
    returns_all: bool,
    tested: PreparedFilter,
    /// The cost of a candidate in a quantum.
    candidate_cost: usize,
    /// True if the view is the one that the plan was made on.
    planned_here: bool,
    regions: Regions,
    /// The in-chain items of the filter; `None` once they are computed.
    chains: Option<Box<Chains>>,
    /// The items of the filter about groups; `None` once they are part of the plan.
    member_items: Option<Box<MemberItems>>,
    /// Present in a database with dynamic lists.
    lists: Option<Box<ListState>>,
    /// The scan of aliases; `None` once it is done.
    aliases: Option<Box<CandidateScan>>,
    scan: CandidateScan,
    attribute_rights: AttributeRights,
    names: DnCache,
    normals: NormalNames,
    normal: String,
}

/// glibc's allocator serves blocks of up to 1,032 bytes from a list of each thread. Larger blocks
/// cost ten times as much.
const _: () = assert!(size_of::<DatabaseSearch<'_>>() <= 1_032);

/// The beginning of a part: its base, and the reusable state of earlier searches.
pub(crate) struct PartStart<'d> {
    pub(crate) database: &'d Database,
    pub(crate) decisions: Decisions<'d>,
    pub(crate) view: Box<View<'d>>,
    pub(crate) base: Region,
    pub(crate) attribute_rights: AttributeRights,
}

/// The reusable state of a part that is finished.
pub(crate) struct Finished<'d> {
    pub(crate) view: Box<View<'d>>,
    /// The rights class that the attribute rights belong to.
    pub(crate) rights_class: Option<RightsClass<'d>>,
    pub(crate) attribute_rights: AttributeRights,
    /// Present if the part was asked for it and is plain.
    pub(crate) plain: Option<Box<PlainSearch<'d>>>,
}

/// The snapshot, or the reader slot of a parked search.
enum SnapshotState<'d> {
    View(Box<View<'d>>),
    Parked(Box<ParkedView<'d>>),
}

/// The outcome of a candidate.
enum CandidateOutcome {
    Skipped,
    Sent,
    End(SearchEnd),
}

/// The result of testing an entry.
enum MatchOutcome {
    NoMatch,
    Entry,
    Reference(Vec<String>),
}

impl<'d> DatabaseSearch<'d> {
    /// Begins a part at an entry of a view, with the attribute rights of earlier searches.
    pub(crate) fn new(
        core: &'d Core,
        start: PartStart<'d>,
        number: u16,
        since_us: u64,
        mut spec: SearchSpec,
    ) -> Result<Box<DatabaseSearch<'d>>, StoreError> {
        let PartStart {
            database,
            decisions,
            view,
            base,
            attribute_rights,
        } = start;
        let wide = base.scope != Scope::Base;
        let subentries = spec.fit_to(core, database, &view, base)?;
        let only = (!wide && !spec.deref).then_some(base.base);
        let asked = (&*spec.filter, only);
        let lists = ListState::of(database, view.schema(), asked, spec.stored_only);
        let requester = RequesterRights {
            stored_only: spec.stored_only,
            cache: lists.as_deref().map(|lists| &lists.cache),
            ..RequesterRights::new(core, database, &decisions)
        };
        let tested = PreparedFilter::new(&spec.filter, &view, requester);
        let returns_all = decisions.uniform() && !subentries && !spec.has_special_entries() && {
            let facts = EntryFacts::new(core, &*view, EntrySource::Missing);
            let rights = facts.rights(&decisions, "");
            rights.entry().allows(Rights::READ)
        };
        let names = view.take_dn_cache();
        let reads = wide || spec.deref;
        let member_items = MemberItems::of(requester, &spec.filter, &view, reads)?;
        Ok(Box::new(DatabaseSearch {
            core,
            database,
            number,
            decisions,
            held: Some(SnapshotState::View(view)),
            since_us,
            examined_before: 0,
            base,
            // A test of a filter with thousands of items costs as much as writing thousands of
            // entries.
            candidate_cost: 1
                + spec.filter.weight() / FILTER_WEIGHT_FREE
                + MEMBERSHIP_COST * member_items::count(&database.memberships, &spec.filter),
            chains: Chains::of(&spec.filter).map(Box::new),
            member_items: member_items.map(Box::new),
            lists,
            aliases: (spec.deref && wide).then(Box::default),
            planned: spec.planned(&spec.filter, core),
            spec,
            subentries,
            returns_all,
            tested,
            planned_here: true,
            regions: Regions::new(base.base, base.scope),
            scan: CandidateScan::default(),
            attribute_rights,
            names,
            normals: NormalNames::default(),
            normal: String::new(),
        }))
    }

    /// Continues after an entry of an earlier page.
    pub(crate) fn after(&mut self, position: EntryPosition) {
        self.scan = CandidateScan::after(position.region as usize, position.id);
    }

    /// Gives up the snapshot until the next step.
    pub(crate) fn park(&mut self) {
        self.held = match self.held.take() {
            Some(SnapshotState::View(view)) => Some(SnapshotState::Parked(Box::new(view.park()))),
            other => other,
        };
    }

    /// Returns the snapshot with its cached names, and the attribute rights. With `repeats` the
    /// parts come too from which the search can be repeated, if it is plain.
    pub(crate) fn finish(mut self: Box<Self>, repeats: bool) -> Option<Finished<'d>> {
        let Some(SnapshotState::View(view)) = self.held.take() else {
            return None;
        };
        view.keep_dn_cache(std::mem::take(&mut self.names));
        let rights_class = self.decisions.rights_class();
        let attribute_rights = std::mem::take(&mut self.attribute_rights);
        let plain = if repeats && self.is_plain() {
            let part = *self;
            Some(Box::new(PlainSearch {
                database: part.database,
                decisions: part.decisions,
                scope: part.base.scope,
            }))
        } else {
            // The part is large, so it is dropped where it is.
            None
        };
        Some(Finished {
            view,
            rights_class,
            attribute_rights,
            plain,
        })
    }

    /// Returns the number of candidates examined.
    pub(crate) fn examined(&self) -> u64 {
        self.scan.examined()
    }

    /// Returns the indexes that the filter lacks.
    pub(crate) fn missing_indexes(&self) -> impl Iterator<Item = String> + use<'d> {
        let missing = match &self.held {
            Some(SnapshotState::View(view)) => view.missing_indexes(&self.spec.filter),
            _ => Vec::new(),
        };
        missing.into_iter().map(|spec| spec.to_string())
    }

    /// Describes the search for administrators, without the values of its filter. Planning anew
    /// costs little next to a search that examined many entries. A large filter has no plan here.
    pub(crate) fn describe(&self, now: Timestamp, returned: u32, work_us: u64) -> SlowSearch {
        let scope = store_scope(self.base.scope);
        let plan = match &self.held {
            Some(SnapshotState::View(view)) if self.planned.weight() <= REPLANNED_MAX => view
                .plan(self.base.base, scope, &self.planned)
                .map(|plan| plan.outline(view))
                .unwrap_or_default(),
            _ => String::new(),
        };
        let suffix = self.database.suffixes().first();
        SlowSearch {
            suffix: suffix.map(|dn| dn.pretty().to_owned()).unwrap_or_default(),
            scope: self.base.scope,
            filter: filter_shape(&self.core.schema, &self.spec.filter),
            plan,
            missing: self.missing_indexes().collect(),
            count: 1,
            examined: self.examined(),
            returned: returned.into(),
            work_us,
            longest_us: work_us,
            last: now,
        }
    }

    /// Works until the quantum is used up, which sets `left` to 0, or until all candidates are
    /// examined.
    ///
    /// Returns the end if the whole search ends here.
    pub(crate) fn advance(
        &mut self,
        output: &mut Output,
        out: &mut Vec<u8>,
        bytes_end: usize,
        left: &mut usize,
    ) -> Result<Option<SearchEnd>, StoreError> {
        let view = self.current_view(output.now_us)?;
        let end = self.work(&view, output, out, bytes_end, left);
        self.held = Some(SnapshotState::View(view));
        end
    }

    /// Tests one candidate and passes it to the output if it matches. With `exact` the plan
    /// guarantees that the filter is true of it.
    fn candidate(
        &mut self,
        (view, entry): (&View<'d>, &EntryView<'_>),
        exact: bool,
        output: &mut Output,
        out: &mut Vec<u8>,
    ) -> Result<CandidateOutcome, StoreError> {
        match self.test_entry(view, entry, exact)? {
            MatchOutcome::NoMatch => return Ok(CandidateOutcome::Skipped),
            MatchOutcome::Reference(urls) => {
                // The next page continues behind the last entry of this one, and meets the
                // reference again.
                if output.sorter.is_none()
                    && let Some(end) = output.page_full()
                {
                    return Ok(CandidateOutcome::End(end));
                }
                let again = output.sorter.is_some() && output.is_continued();
                if !again && !self.is_covered(view, entry)? {
                    output.reference(out, &urls);
                }
                return Ok(CandidateOutcome::Skipped);
            }
            MatchOutcome::Entry if self.is_covered(view, entry)? => {
                return Ok(CandidateOutcome::Skipped);
            }
            MatchOutcome::Entry => {}
        }
        let at = EntryPosition {
            part: self.number,
            region: u32::try_from(self.scan.region()).unwrap_or(u32::MAX),
            id: entry.id(),
        };
        if output.sorter.is_none() {
            let key = Box::default();
            return self.write(view, entry, SortItem { key, at }, output, out);
        }
        let key = self.sort_key(view, entry, output)?;
        let has_room = output
            .sorter
            .as_mut()
            .is_some_and(|sorter| sorter.push(SortItem { key, at }));
        if has_room {
            return Ok(CandidateOutcome::Skipped);
        }
        let text = "too many entries to sort";
        let mut end = output.end(ResultCode::AdminLimitExceeded);
        end.result = LdapResult::with_diagnostic(ResultCode::AdminLimitExceeded, text);
        Ok(CandidateOutcome::End(end))
    }

    fn requester(&self) -> RequesterRights<'_> {
        RequesterRights {
            core: self.core,
            database: self.database,
            decisions: &self.decisions,
            stored_only: self.spec.stored_only,
            cache: self.lists.as_deref().map(|lists| &lists.cache),
        }
    }

    /// Writes the entry tested last.
    fn write(
        &mut self,
        view: &View<'d>,
        entry: &EntryView<'_>,
        item: SortItem,
        output: &mut Output,
        out: &mut Vec<u8>,
    ) -> Result<CandidateOutcome, StoreError> {
        if let Some(end) = output.full() {
            return Ok(CandidateOutcome::End(end));
        }
        if self.lists.is_some() && self.begin_expansion(view, entry, &item, output)? {
            return Ok(CandidateOutcome::Skipped);
        }
        let facts = EntryFacts::new(self.core, view, EntrySource::Stored(*entry));
        let rights = facts.rights(&self.decisions, &self.normal);
        let requester = RequesterRights {
            core: self.core,
            database: self.database,
            decisions: &self.decisions,
            stored_only: self.spec.stored_only,
            cache: self.lists.as_deref().map(|lists| &lists.cache),
        };
        let stored = StoredEntry {
            controls: &[],
            other_name: None,
            entry,
            view,
            requester,
            rights,
        };
        let mut caches = EntryCaches {
            attribute_rights: &mut self.attribute_rights,
            names: &mut self.names,
        };
        if output.sync.is_some() {
            if !write_synchronised(stored, &mut caches, output, out)? {
                return Ok(CandidateOutcome::Skipped);
            }
        } else if output.has_entry_controls() {
            if let Some(end) = write_with_controls(stored, &mut caches, output, out)? {
                return Ok(CandidateOutcome::End(end));
            }
        } else {
            output
                .projection
                .write_stored(out, output.id, &stored, &mut caches)?;
        }
        output.wrote(item);
        if self.lists.is_some() && self.has_too_many_groups() {
            return Ok(CandidateOutcome::End(
                output.end(ResultCode::SizeLimitExceeded),
            ));
        }
        Ok(CandidateOutcome::Sent)
    }
}
