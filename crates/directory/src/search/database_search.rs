//! One database of a search, in stages: aliases, then candidates.
//!
//! ```text
//!   in-chain items -> aliases: which regions -> each region: plan -> candidates -> filter -> rights -> output
//! ```
//!
//! A leg can be parked at any point: it gives up its snapshot and goes on with a newer one where it stood, at the next
//! candidate. Entries are then as they are at that later time; what the plan knew for certain is tested again.

use std::convert::Infallible;
use std::sync::Arc;

use fulgurite_access::{Decisions, Likeness, Rights};
use fulgurite_ldap::{LdapResult, ResultCode, Scope};
use fulgurite_schema::{AttributeSelector, Filter};
use fulgurite_store::{DnCache, EntryView, EntryWalk, ParkedView, StoreError, View};

use super::candidates::{CandidateScan, ScanStep};
use super::chain::{ChainContext, ChainProgress, Chains};
use super::filter::{PreparedFilter, VisibleStoredEntry};
use super::output::{Output, SearchEnd};
use super::regions::{REGIONS_MAX, Region, Regions, store_scope};
use super::sort::{self, EntryPosition, SortItem};
use crate::core::database::Database;
use crate::core::foundation::Core;
use crate::core::result::refuse;
use crate::request::alias::{self, AliasResolution};
use crate::request::referral;
use crate::rights::computed::{Computed, RequesterRights};
use crate::rights::facts::{EntryFacts, EntrySource};
use crate::rights::projection::AttributeRights;
use crate::search::normal_names::NormalNames;

/// Filter items that a candidate may be tested against at the price of one.
const FILTER_WEIGHT_FREE: usize = 16;

/// Which entries a search sees, as far as subentries go (RFC 3672).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubentryVisibility {
    /// No subentries, unless one is the base of a search of that entry alone.
    AsNamed,
    /// Subentries and nothing else.
    OnlySubentries,
    /// No subentries.
    NoSubentries,
}

impl SubentryVisibility {
    pub(crate) fn admits(self, is_subentry: bool) -> bool {
        is_subentry == (self == SubentryVisibility::OnlySubentries)
    }
}

/// What a leg looks for.
#[derive(Clone)]
pub(crate) struct SearchSpec {
    pub(crate) filter: Arc<Filter<AttributeSelector>>,
    /// Whether aliases are followed below the base.
    pub(crate) deref: bool,
    /// Whether referral objects are returned as references.
    pub(crate) references: bool,
    /// Whether referral objects are passed over.
    pub(crate) hides_referrals: bool,
    pub(crate) visible: SubentryVisibility,
}

/// One database of a search.
pub(crate) struct DatabaseSearch<'d> {
    core: &'d Core,
    database: &'d Database,
    number: u16,
    decisions: Decisions<'d>,
    held: Option<SnapshotState<'d>>,
    /// Since when the snapshot is held, and how many candidates had been looked at then.
    since_us: u64,
    examined_before: u64,
    base: Region,
    spec: SearchSpec,
    /// The filter that is planned: with referral objects, should there be any.
    planned: Arc<Filter<AttributeSelector>>,
    /// Whether there are subentries at all that must be told from other entries.
    subentries: bool,
    tested: PreparedFilter,
    /// What a candidate counts of a quantum.
    candidate_cost: usize,
    /// Whether the view is still the one the plan was made on.
    planned_here: bool,
    regions: Regions,
    /// Items of the filter that are worked out first; `None` once they are.
    chains: Option<Chains>,
    /// The way through the aliases; `None` once it is done.
    aliases: Option<CandidateScan>,
    pass: CandidateScan,
    attribute_rights: AttributeRights,
    names: DnCache,
    normals: NormalNames,
    name: String,
    normal: String,
}

/// What a leg that is done leaves to others.
pub(crate) struct Finished<'d> {
    pub(crate) view: Box<View<'d>>,
    /// Whose the verdicts are.
    pub(crate) likeness: Option<Likeness<'d>>,
    pub(crate) attribute_rights: AttributeRights,
}

/// The snapshot, or the place among the readers that a resting search keeps.
enum SnapshotState<'d> {
    View(Box<View<'d>>),
    Parked(Box<ParkedView<'d>>),
}

/// What a candidate came to.
enum CandidateOutcome {
    Skipped,
    Sent,
    End(SearchEnd),
}

/// How an entry is returned.
enum MatchOutcome {
    NoMatch,
    Entry,
    Reference(Vec<String>),
}

impl<'d> DatabaseSearch<'d> {
    /// A leg that begins at an entry of a view, held since a time, with what is known already of the attributes that it
    /// shows.
    pub(crate) fn new(
        core: &'d Core,
        (database, number): (&'d Database, u16),
        decisions: Decisions<'d>,
        (view, since_us): (Box<View<'d>>, u64),
        base: Region,
        mut spec: SearchSpec,
        attribute_rights: AttributeRights,
    ) -> Result<Box<DatabaseSearch<'d>>, StoreError> {
        let types = &core.types;
        let holds = |class: &Filter<AttributeSelector>| {
            let plan = view.plan(base.base, store_scope(base.scope), class)?;
            Ok::<_, StoreError>(plan.count_max() > 0)
        };
        let wide = base.scope != Scope::Base;
        let kinds = database.special_classes(&view, types, base.base)?;
        let referrals = wide && (spec.deref || kinds.referrals && holds(&types.referral_filter)?);
        spec.references &= referrals;
        spec.hides_referrals &= referrals;
        let subentries = match spec.visible {
            SubentryVisibility::AsNamed => {
                wide && (spec.deref || kinds.subentries && holds(&types.subentry_filter)?)
            }
            SubentryVisibility::OnlySubentries | SubentryVisibility::NoSubentries => true,
        };
        let tested = PreparedFilter::new(&spec.filter, core, &view, &decisions);
        let names = view.take_dn_cache();
        Ok(Box::new(DatabaseSearch {
            core,
            database,
            number,
            decisions,
            held: Some(SnapshotState::View(view)),
            since_us,
            examined_before: 0,
            base,
            // Testing a candidate against a filter of thousands of items takes as long as writing thousands of entries.
            candidate_cost: 1 + spec.filter.weight() / FILTER_WEIGHT_FREE,
            chains: Chains::of(&spec.filter),
            aliases: (spec.deref && wide).then(CandidateScan::default),
            planned: planned(&spec, core),
            spec,
            subentries,
            tested,
            planned_here: true,
            regions: Regions::new(base.base, base.scope),
            pass: CandidateScan::default(),
            attribute_rights,
            names,
            normals: NormalNames::default(),
            name: String::new(),
            normal: String::new(),
        }))
    }

    /// Begins after an entry instead of at the beginning.
    pub(crate) fn after(&mut self, position: EntryPosition) {
        self.pass = CandidateScan::after(position.region as usize, position.id);
    }

    /// Gives up the snapshot until the next step.
    pub(crate) fn park(&mut self) {
        self.held = match self.held.take() {
            Some(SnapshotState::View(view)) => Some(SnapshotState::Parked(Box::new(view.park()))),
            other => other,
        };
    }

    /// The snapshot, with the names found in it, and what else is of use to others after the end.
    pub(crate) fn take_left(&mut self) -> Option<Finished<'d>> {
        let Some(SnapshotState::View(view)) = self.held.take() else {
            return None;
        };
        view.keep_dn_cache(std::mem::take(&mut self.names));
        Some(Finished {
            view,
            likeness: self.decisions.likeness(),
            attribute_rights: std::mem::take(&mut self.attribute_rights),
        })
    }

    /// How many candidates have been looked at.
    pub(crate) fn examined(&self) -> u64 {
        self.pass.examined()
    }

    /// Indexes that the filter would have been answered by.
    pub(crate) fn missing_indexes(&self) -> impl Iterator<Item = String> + use<'d> {
        let missing = match &self.held {
            Some(SnapshotState::View(view)) => view.missing_indexes(&self.spec.filter),
            _ => Vec::new(),
        };
        missing.into_iter().map(|spec| spec.to_string())
    }

    /// Works until the quantum is used up, which leaves `left` at zero, or all candidates have been looked at; or to
    /// the end of the whole search.
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

    /// Writes an entry that was found and put in order before, if it still is what was sought.
    pub(crate) fn write_found(
        &mut self,
        item: SortItem,
        output: &mut Output,
        out: &mut Vec<u8>,
    ) -> Result<Option<SearchEnd>, StoreError> {
        let view = self.current_view(output.now_us)?;
        let verdict = match view.entry(item.at.id)? {
            Some(entry) if matches!(self.judge(&view, &entry, false)?, MatchOutcome::Entry) => {
                self.write(&view, &entry, item, output, out)?
            }
            _ => CandidateOutcome::Skipped,
        };
        self.held = Some(SnapshotState::View(view));
        Ok(match verdict {
            CandidateOutcome::End(end) => Some(end),
            CandidateOutcome::Skipped | CandidateOutcome::Sent => None,
        })
    }

    /// The snapshot to work on: the one at hand unless it has been parked or has grown old.
    fn current_view(&mut self, now: u64) -> Result<Box<View<'d>>, StoreError> {
        let age_max = u64::from(self.database.limits.limits.snapshot_s_max) * 1_000_000;
        let examined = self.examined();
        let many = match self.database.snapshot_candidates_max {
            0 => false,
            max => examined - self.examined_before >= max,
        };
        let old = many || age_max > 0 && now.saturating_sub(self.since_us) >= age_max;
        let view = match self.held.take() {
            Some(SnapshotState::View(view)) if !old => return Ok(view),
            Some(SnapshotState::View(mut view)) => {
                (self.since_us, self.examined_before) = (now, examined);
                if !view.refresh()? {
                    // There is nothing newer: what it holds would be held by any other as well.
                    return Ok(view);
                }
                view
            }
            Some(SnapshotState::Parked(parked)) => Box::new(parked.resume()?),
            None => return Err(StoreError::Poisoned),
        };
        self.planned_here = false;
        (self.since_us, self.examined_before) = (now, examined);
        self.names.clear();
        self.normals.clear();
        self.pass.mark_inexact();
        let filter = &self.spec.filter;
        self.tested = PreparedFilter::new(filter, self.core, &view, &self.decisions);
        Ok(view)
    }

    fn work(
        &mut self,
        view: &View<'d>,
        output: &mut Output,
        out: &mut Vec<u8>,
        bytes_end: usize,
        left: &mut usize,
    ) -> Result<Option<SearchEnd>, StoreError> {
        if let Some(end) = self.follow_chains(view, left)? {
            return Ok(Some(end));
        }
        if let Some(end) = self.walk_aliases(view, left)? {
            return Ok(Some(end));
        }
        let mut walk = EntryWalk::new();
        while *left > 0 && out.len() < bytes_end {
            let cost = self.candidate_cost;
            let next = self
                .pass
                .next(view, &mut walk, &self.regions, &self.planned, cost, left)?;
            if output.limits.is_unchecked(self.pass.planned()) {
                return Ok(Some(output.end(ResultCode::AdminLimitExceeded)));
            }
            match next {
                ScanStep::Entry(entry) => match self.candidate(view, &entry, output, out)? {
                    CandidateOutcome::Skipped | CandidateOutcome::Sent => {}
                    CandidateOutcome::End(end) => return Ok(Some(end)),
                },
                ScanStep::Pause => *left = 0,
                ScanStep::Exhausted => return Ok(None),
            }
        }
        *left = 0;
        Ok(None)
    }

    /// Works out what items of the filter lead to through other entries.
    fn follow_chains(
        &mut self,
        view: &View<'d>,
        left: &mut usize,
    ) -> Result<Option<SearchEnd>, StoreError> {
        let Some(chains) = &mut self.chains else {
            return Ok(None);
        };
        let ground = ChainContext {
            core: self.core,
            view,
            decisions: &self.decisions,
        };
        let found = match chains.step(&ground, left)? {
            ChainProgress::Pause => return Ok(None),
            ChainProgress::TooMany => {
                let text = "membership leads through too many entries";
                let result = refuse(ResultCode::AdminLimitExceeded, text);
                return Ok(Some(SearchEnd::plain(result)));
            }
            ChainProgress::Done(found) => found,
        };
        self.chains = None;
        let mut found = found.into_iter();
        let filter = Filter::clone(&self.spec.filter);
        let filter = filter.replace_chains::<Infallible>(&mut |_, _| {
            Ok(Filter::Entries(found.next().unwrap_or_default()))
        });
        let Ok(filter) = filter;
        self.spec.filter = Arc::new(filter.clone());
        self.planned = planned(&self.spec, self.core);
        self.tested = PreparedFilter::new(&filter, self.core, view, &self.decisions);
        Ok(None)
    }

    /// Follows the aliases of the regions known so far, which may add regions.
    fn walk_aliases(
        &mut self,
        view: &View<'d>,
        left: &mut usize,
    ) -> Result<Option<SearchEnd>, StoreError> {
        let types = &self.core.types;
        let mut walk = EntryWalk::new();
        while let Some(aliases) = &mut self.aliases {
            let filter = &types.alias_filter;
            match aliases.next(view, &mut walk, &self.regions, filter, 1, left)? {
                ScanStep::Pause => return Ok(None),
                ScanStep::Exhausted => self.aliases = None,
                ScanStep::Entry(entry) if entry.id() == self.base.base => {}
                ScanStep::Entry(entry) => {
                    let name = view.resolved_dn(entry.id())?;
                    let depth_max = self.database.max_deref_depth;
                    let followed =
                        alias::follow(view, self.core, &self.decisions, &name, depth_max)?;
                    let AliasResolution::Resolved(_, found) = followed else {
                        continue;
                    };
                    if let Some(target) = found.entry() {
                        let scope = self.base.scope;
                        self.regions.add_target(view, target, scope)?;
                    }
                    if self.regions.len() > REGIONS_MAX {
                        let text = "aliases lead to too many places";
                        return Ok(Some(SearchEnd::plain(refuse(
                            ResultCode::AdminLimitExceeded,
                            text,
                        ))));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Tests one candidate and hands it to the output if it is to be returned.
    fn candidate(
        &mut self,
        view: &View<'d>,
        entry: &EntryView<'_>,
        output: &mut Output,
        out: &mut Vec<u8>,
    ) -> Result<CandidateOutcome, StoreError> {
        match self.judge(view, entry, self.pass.is_exact())? {
            MatchOutcome::NoMatch => return Ok(CandidateOutcome::Skipped),
            MatchOutcome::Reference(urls) => {
                // The next page goes on behind the last entry of this one, and comes by here again.
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
            region: u32::try_from(self.pass.region()).unwrap_or(u32::MAX),
            id: entry.id(),
        };
        if output.sorter.is_none() {
            let key = Box::default();
            return self.write(view, entry, SortItem { key, at }, output, out);
        }
        let facts = EntryFacts::new(self.core, view, EntrySource::Stored(*entry));
        let rights = facts.rights(&self.decisions, &self.normal);
        let types = &self.core.types;
        let by_value = self.decisions.by_value();
        let key = sort::key_of(
            &output.sort_keys,
            self.requester(),
            view,
            entry,
            |description, value| {
                let rights = if by_value {
                    rights.value(description, value)
                } else {
                    rights.attribute(description)
                };
                let computed = Computed::of(types, description.attribute);
                rights.allows(Rights::READ)
                    && computed.is_none_or(|computed| computed.may_be_told(&self.decisions))
            },
        )?;
        let taken = output
            .sorter
            .as_mut()
            .is_some_and(|sorter| sorter.push(SortItem { key, at }));
        if taken {
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
            decisions: &self.decisions,
        }
    }

    /// Whether an earlier region has had the entry already.
    fn is_covered(&self, view: &View<'d>, entry: &EntryView<'_>) -> Result<bool, StoreError> {
        self.regions.covers_before(view, entry, self.pass.region())
    }

    /// Whether and how an entry is returned. `exact` says that the plan vouches for the filter.
    fn judge(
        &mut self,
        view: &View<'d>,
        entry: &EntryView<'_>,
        exact: bool,
    ) -> Result<MatchOutcome, StoreError> {
        let types = &self.core.types;
        let uniform = self.decisions.uniform();
        let exact = exact && !self.spec.references && self.planned_here && self.tested.plain;
        if !exact {
            let filter = &self.spec.filter;
            self.tested
                .prepare(filter, self.core, view, &self.decisions);
        }
        if !uniform {
            self.normals.write(view, entry, &mut self.normal)?;
        }
        let facts = EntryFacts::new(self.core, view, EntrySource::Stored(*entry));
        let rights = facts.rights(&self.decisions, &self.normal);
        if !rights.entry().allows(Rights::READ) {
            return Ok(MatchOutcome::NoMatch);
        }
        if self.subentries && !self.spec.visible.admits(types.is_subentry(entry)) {
            return Ok(MatchOutcome::NoMatch);
        }
        if self.spec.deref && entry.id() != self.base.base && types.is_alias(entry) {
            return Ok(MatchOutcome::NoMatch);
        }
        let referrals = self.spec.references || self.spec.hides_referrals;
        if referrals && types.is_referral(entry) {
            if self.spec.hides_referrals {
                return Ok(MatchOutcome::NoMatch);
            }
            if !rights.attribute(&types.reference).allows(Rights::READ) {
                return Ok(MatchOutcome::NoMatch);
            }
            let object = view.resolved_dn(entry.id())?;
            let urls = referral::reference(entry, types, &object, self.base.scope);
            return Ok(MatchOutcome::Reference(urls));
        }
        let seen = VisibleStoredEntry {
            entry: *entry,
            view,
            rights,
            requester: self.requester(),
            check: !uniform,
            by_value: self.decisions.by_value(),
        };
        Ok(if exact || self.tested.admits(view.schema(), &seen) {
            MatchOutcome::Entry
        } else {
            MatchOutcome::NoMatch
        })
    }

    /// Writes an entry that has been judged last.
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
        self.name.clear();
        entry.write_dn(&mut self.names, &mut self.name)?;
        let facts = EntryFacts::new(self.core, view, EntrySource::Stored(*entry));
        let rights = facts.rights(&self.decisions, &self.normal);
        let requester = RequesterRights {
            core: self.core,
            decisions: &self.decisions,
        };
        let id = output.id;
        output.projection.write_stored(
            out,
            id,
            (entry, &self.name),
            view,
            &mut self.attribute_rights,
            (requester, rights),
        )?;
        output.wrote(item);
        Ok(CandidateOutcome::Sent)
    }
}

/// The filter that is planned: referral objects are candidates too, where they are returned as references.
fn planned(spec: &SearchSpec, core: &Core) -> Arc<Filter<AttributeSelector>> {
    let types = &core.types;
    let with =
        |class: &Filter<AttributeSelector>| vec![Filter::clone(class), Filter::clone(&spec.filter)];
    if spec.references {
        Arc::new(Filter::Or(with(&types.referral_filter)))
    } else if spec.visible == SubentryVisibility::OnlySubentries {
        Arc::new(Filter::And(with(&types.subentry_filter)))
    } else {
        Arc::clone(&spec.filter)
    }
}
