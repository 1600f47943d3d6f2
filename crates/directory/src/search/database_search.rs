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

use super::candidates::{Next, Pass};
use super::chain::{Chains, Ground, Stepped};
use super::filter::{Seen, Tested};
use super::output::{End, Output};
use super::regions::{REGIONS_MAX, Region, Regions};
use super::sort::{self, Item, Position};
use super::task::{Visible, store_scope};
use crate::core::database::Database;
use crate::core::result::refuse;
use crate::directory::Directory;
use crate::request::alias::{self, Followed};
use crate::request::referral;
use crate::rights::computed::{Asker, Computed};
use crate::rights::facts::{EntryFacts, Target};
use crate::rights::projection::Verdicts;
use crate::search::normal_names::NormalNames;

/// Filter items that a candidate may be tested against at the price of one.
const FILTER_WEIGHT_FREE: usize = 16;

/// What a leg looks for.
#[derive(Clone)]
pub(crate) struct Sought {
    pub(crate) filter: Arc<Filter<AttributeSelector>>,
    /// Whether aliases are followed below the base.
    pub(crate) deref: bool,
    /// Whether referral objects are returned as references.
    pub(crate) references: bool,
    /// Whether referral objects are passed over.
    pub(crate) hides_referrals: bool,
    pub(crate) visible: Visible,
}

/// One database of a search.
pub(crate) struct Leg<'d> {
    directory: &'d Directory,
    database: &'d Database,
    number: u16,
    decisions: Decisions<'d>,
    held: Option<Held<'d>>,
    /// Since when the snapshot is held, and how many candidates had been looked at then.
    since_us: u64,
    examined_before: u64,
    base: Region,
    sought: Sought,
    /// The filter that is planned: with referral objects, should there be any.
    planned: Arc<Filter<AttributeSelector>>,
    /// Whether there are subentries at all that must be told from other entries.
    subentries: bool,
    tested: Tested,
    /// What a candidate counts of a quantum.
    candidate_cost: usize,
    /// Whether the view is still the one the plan was made on.
    planned_here: bool,
    regions: Regions,
    /// Items of the filter that are worked out first; `None` once they are.
    chains: Option<Chains>,
    /// The way through the aliases; `None` once it is done.
    aliases: Option<Pass>,
    pass: Pass,
    verdicts: Verdicts,
    names: DnCache,
    normals: NormalNames,
    name: String,
    normal: String,
}

/// What a leg that is done leaves to others.
pub(crate) struct Left<'d> {
    pub(crate) view: Box<View<'d>>,
    /// Whose the verdicts are.
    pub(crate) likeness: Option<Likeness<'d>>,
    pub(crate) verdicts: Verdicts,
}

/// The snapshot, or the place among the readers that a resting search keeps.
enum Held<'d> {
    View(Box<View<'d>>),
    Parked(Box<ParkedView<'d>>),
}

/// What a candidate came to.
enum Verdict {
    Passed,
    Sent,
    End(End),
}

/// How an entry is returned.
enum Judged {
    Not,
    Entry,
    Reference(Vec<String>),
}

impl<'d> Leg<'d> {
    /// A leg that begins at an entry of a view, held since a time, with what is known already of the attributes that it
    /// shows.
    pub(crate) fn new(
        directory: &'d Directory,
        (database, number): (&'d Database, u16),
        decisions: Decisions<'d>,
        (view, since_us): (Box<View<'d>>, u64),
        base: Region,
        mut sought: Sought,
        verdicts: Verdicts,
    ) -> Result<Box<Leg<'d>>, StoreError> {
        let known = &directory.known;
        let holds = |class: &Filter<AttributeSelector>| {
            let plan = view.plan(base.base, store_scope(base.scope), class)?;
            Ok::<_, StoreError>(plan.count_max() > 0)
        };
        let wide = base.scope != Scope::Base;
        let kinds = database.kinds(&view, known, base.base)?;
        let referrals = wide && (sought.deref || kinds.referrals && holds(&known.referral_filter)?);
        sought.references &= referrals;
        sought.hides_referrals &= referrals;
        let subentries = match sought.visible {
            Visible::AsNamed => {
                wide && (sought.deref || kinds.subentries && holds(&known.subentry_filter)?)
            }
            Visible::OnlySubentries | Visible::NoSubentries => true,
        };
        let tested = Tested::new(&sought.filter, directory, &view, &decisions);
        let names = view.take_dn_cache();
        Ok(Box::new(Leg {
            directory,
            database,
            number,
            decisions,
            held: Some(Held::View(view)),
            since_us,
            examined_before: 0,
            base,
            // Testing a candidate against a filter of thousands of items takes as long as writing thousands of entries.
            candidate_cost: 1 + sought.filter.weight() / FILTER_WEIGHT_FREE,
            chains: Chains::of(&sought.filter),
            aliases: (sought.deref && wide).then(Pass::default),
            planned: planned(&sought, directory),
            sought,
            subentries,
            tested,
            planned_here: true,
            regions: Regions::new(base.base, base.scope),
            pass: Pass::default(),
            verdicts,
            names,
            normals: NormalNames::default(),
            name: String::new(),
            normal: String::new(),
        }))
    }

    /// Begins after an entry instead of at the beginning.
    pub(crate) fn after(&mut self, position: Position) {
        self.pass = Pass::after(position.region as usize, position.id);
    }

    /// Gives up the snapshot until the next step.
    pub(crate) fn park(&mut self) {
        self.held = match self.held.take() {
            Some(Held::View(view)) => Some(Held::Parked(Box::new(view.park()))),
            other => other,
        };
    }

    /// The snapshot, with the names found in it, and what else is of use to others after the end.
    pub(crate) fn take_left(&mut self) -> Option<Left<'d>> {
        let Some(Held::View(view)) = self.held.take() else {
            return None;
        };
        view.keep_dn_cache(std::mem::take(&mut self.names));
        Some(Left {
            view,
            likeness: self.decisions.likeness(),
            verdicts: std::mem::take(&mut self.verdicts),
        })
    }

    /// How many candidates have been looked at.
    pub(crate) fn examined(&self) -> u64 {
        self.pass.examined()
    }

    /// Indexes that the filter would have been answered by.
    pub(crate) fn missing_indexes(&self) -> impl Iterator<Item = String> + use<'d> {
        let missing = match &self.held {
            Some(Held::View(view)) => view.missing_indexes(&self.sought.filter),
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
    ) -> Result<Option<End>, StoreError> {
        let view = self.current_view(output.now_us)?;
        let end = self.work(&view, output, out, bytes_end, left);
        self.held = Some(Held::View(view));
        end
    }

    /// Writes an entry that was found and put in order before, if it still is what was sought.
    pub(crate) fn write_found(
        &mut self,
        item: Item,
        output: &mut Output,
        out: &mut Vec<u8>,
    ) -> Result<Option<End>, StoreError> {
        let view = self.current_view(output.now_us)?;
        let verdict = match view.entry(item.at.id)? {
            Some(entry) if matches!(self.judge(&view, &entry, false)?, Judged::Entry) => {
                self.write(&view, &entry, item, output, out)?
            }
            _ => Verdict::Passed,
        };
        self.held = Some(Held::View(view));
        Ok(match verdict {
            Verdict::End(end) => Some(end),
            Verdict::Passed | Verdict::Sent => None,
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
            Some(Held::View(view)) if !old => return Ok(view),
            Some(Held::View(mut view)) => {
                (self.since_us, self.examined_before) = (now, examined);
                if !view.refresh()? {
                    // There is nothing newer: what it holds would be held by any other as well.
                    return Ok(view);
                }
                view
            }
            Some(Held::Parked(parked)) => Box::new(parked.resume()?),
            None => return Err(StoreError::Poisoned),
        };
        self.planned_here = false;
        (self.since_us, self.examined_before) = (now, examined);
        self.names.clear();
        self.normals.clear();
        self.pass.mark_inexact();
        let filter = &self.sought.filter;
        self.tested = Tested::new(filter, self.directory, &view, &self.decisions);
        Ok(view)
    }

    fn work(
        &mut self,
        view: &View<'d>,
        output: &mut Output,
        out: &mut Vec<u8>,
        bytes_end: usize,
        left: &mut usize,
    ) -> Result<Option<End>, StoreError> {
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
                Next::Entry(entry) => match self.candidate(view, &entry, output, out)? {
                    Verdict::Passed | Verdict::Sent => {}
                    Verdict::End(end) => return Ok(Some(end)),
                },
                Next::Pause => *left = 0,
                Next::Exhausted => return Ok(None),
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
    ) -> Result<Option<End>, StoreError> {
        let Some(chains) = &mut self.chains else {
            return Ok(None);
        };
        let ground = Ground {
            directory: self.directory,
            view,
            decisions: &self.decisions,
        };
        let found = match chains.step(&ground, left)? {
            Stepped::Pause => return Ok(None),
            Stepped::TooMany => {
                let text = "membership leads through too many entries";
                let result = refuse(ResultCode::AdminLimitExceeded, text);
                return Ok(Some(End::plain(result)));
            }
            Stepped::Done(found) => found,
        };
        self.chains = None;
        let mut found = found.into_iter();
        let filter = Filter::clone(&self.sought.filter);
        let filter = filter.replace_chains::<Infallible>(&mut |_, _| {
            Ok(Filter::Entries(found.next().unwrap_or_default()))
        });
        let Ok(filter) = filter;
        self.sought.filter = Arc::new(filter.clone());
        self.planned = planned(&self.sought, self.directory);
        self.tested = Tested::new(&filter, self.directory, view, &self.decisions);
        Ok(None)
    }

    /// Follows the aliases of the regions known so far, which may add regions.
    fn walk_aliases(
        &mut self,
        view: &View<'d>,
        left: &mut usize,
    ) -> Result<Option<End>, StoreError> {
        let known = &self.directory.known;
        let mut walk = EntryWalk::new();
        while let Some(aliases) = &mut self.aliases {
            let filter = &known.alias_filter;
            match aliases.next(view, &mut walk, &self.regions, filter, 1, left)? {
                Next::Pause => return Ok(None),
                Next::Exhausted => self.aliases = None,
                Next::Entry(entry) if entry.id() == self.base.base => {}
                Next::Entry(entry) => {
                    let name = view.resolved_dn(entry.id())?;
                    let depth_max = self.database.max_deref_depth;
                    let followed =
                        alias::follow(view, self.directory, &self.decisions, &name, depth_max)?;
                    let Followed::Arrived(_, found) = followed else {
                        continue;
                    };
                    if let Some(target) = found.entry() {
                        let scope = self.base.scope;
                        self.regions.add_target(view, target, scope)?;
                    }
                    if self.regions.len() > REGIONS_MAX {
                        let text = "aliases lead to too many places";
                        return Ok(Some(End::plain(refuse(
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
    ) -> Result<Verdict, StoreError> {
        match self.judge(view, entry, self.pass.is_exact())? {
            Judged::Not => return Ok(Verdict::Passed),
            Judged::Reference(urls) => {
                // The next page goes on behind the last entry of this one, and comes by here again.
                if output.sorter.is_none()
                    && let Some(end) = output.page_full()
                {
                    return Ok(Verdict::End(end));
                }
                let again = output.sorter.is_some() && output.is_continued();
                if !again && !self.is_covered(view, entry)? {
                    output.reference(out, &urls);
                }
                return Ok(Verdict::Passed);
            }
            Judged::Entry if self.is_covered(view, entry)? => return Ok(Verdict::Passed),
            Judged::Entry => {}
        }
        let at = Position {
            leg: self.number,
            region: u32::try_from(self.pass.region()).unwrap_or(u32::MAX),
            id: entry.id(),
        };
        if output.sorter.is_none() {
            let key = Box::default();
            return self.write(view, entry, Item { key, at }, output, out);
        }
        let facts = EntryFacts::new(self.directory, view, Target::Stored(*entry));
        let rights = facts.rights(&self.decisions, &self.normal);
        let known = &self.directory.known;
        let by_value = self.decisions.by_value();
        let key = sort::key_of(
            &output.sort_keys,
            self.asker(),
            view,
            entry,
            |description, value| {
                let rights = if by_value {
                    rights.value(description, value)
                } else {
                    rights.attribute(description)
                };
                let computed = Computed::of(known, description.attribute);
                rights.allows(Rights::READ)
                    && computed.is_none_or(|computed| computed.may_be_told(&self.decisions))
            },
        )?;
        let taken = output
            .sorter
            .as_mut()
            .is_some_and(|sorter| sorter.push(Item { key, at }));
        if taken {
            return Ok(Verdict::Passed);
        }
        let text = "too many entries to sort";
        let mut end = output.end(ResultCode::AdminLimitExceeded);
        end.result = LdapResult::with_diagnostic(ResultCode::AdminLimitExceeded, text);
        Ok(Verdict::End(end))
    }

    fn asker(&self) -> Asker<'_> {
        Asker {
            directory: self.directory,
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
    ) -> Result<Judged, StoreError> {
        let known = &self.directory.known;
        let uniform = self.decisions.uniform();
        let exact = exact && !self.sought.references && self.planned_here && self.tested.plain;
        if !exact {
            let filter = &self.sought.filter;
            self.tested
                .prepare(filter, self.directory, view, &self.decisions);
        }
        if !uniform {
            self.normals.write(view, entry, &mut self.normal)?;
        }
        let facts = EntryFacts::new(self.directory, view, Target::Stored(*entry));
        let rights = facts.rights(&self.decisions, &self.normal);
        if !rights.entry().allows(Rights::READ) {
            return Ok(Judged::Not);
        }
        if self.subentries
            && !self
                .sought
                .visible
                .admits(referral::is_subentry(entry, known))
        {
            return Ok(Judged::Not);
        }
        if self.sought.deref && entry.id() != self.base.base && referral::is_alias(entry, known) {
            return Ok(Judged::Not);
        }
        let referrals = self.sought.references || self.sought.hides_referrals;
        if referrals && referral::is_referral(entry, known) {
            if self.sought.hides_referrals {
                return Ok(Judged::Not);
            }
            if !rights.attribute(&known.reference).allows(Rights::READ) {
                return Ok(Judged::Not);
            }
            let object = view.resolved_dn(entry.id())?;
            let urls = referral::reference(entry, known, &object, self.base.scope);
            return Ok(Judged::Reference(urls));
        }
        let seen = Seen {
            entry: *entry,
            view,
            rights,
            asker: self.asker(),
            check: !uniform,
            by_value: self.decisions.by_value(),
        };
        Ok(if exact || self.tested.admits(view.schema(), &seen) {
            Judged::Entry
        } else {
            Judged::Not
        })
    }

    /// Writes an entry that has been judged last.
    fn write(
        &mut self,
        view: &View<'d>,
        entry: &EntryView<'_>,
        item: Item,
        output: &mut Output,
        out: &mut Vec<u8>,
    ) -> Result<Verdict, StoreError> {
        if let Some(end) = output.full() {
            return Ok(Verdict::End(end));
        }
        self.name.clear();
        entry.write_dn(&mut self.names, &mut self.name)?;
        let facts = EntryFacts::new(self.directory, view, Target::Stored(*entry));
        let rights = facts.rights(&self.decisions, &self.normal);
        let asker = Asker {
            directory: self.directory,
            decisions: &self.decisions,
        };
        let id = output.id;
        output.shown.write_stored(
            out,
            id,
            (entry, &self.name),
            view,
            &mut self.verdicts,
            (asker, rights),
        )?;
        output.wrote(item);
        Ok(Verdict::Sent)
    }
}

/// The filter that is planned: referral objects are candidates too, where they are returned as references.
fn planned(sought: &Sought, directory: &Directory) -> Arc<Filter<AttributeSelector>> {
    let known = &directory.known;
    let with = |class: &Filter<AttributeSelector>| {
        vec![Filter::clone(class), Filter::clone(&sought.filter)]
    };
    if sought.references {
        Arc::new(Filter::Or(with(&known.referral_filter)))
    } else if sought.visible == Visible::OnlySubentries {
        Arc::new(Filter::And(with(&known.subentry_filter)))
    } else {
        Arc::clone(&sought.filter)
    }
}
