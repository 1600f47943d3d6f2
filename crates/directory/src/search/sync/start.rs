//! From the request of a consumer to the first stage.

use fulgurite_ldap::control::{PhaseEnd, SyncInfo, SyncMode, SyncRequest};
use fulgurite_ldap::{FilterBuf, LdapResult, ResultCode, encode};
use fulgurite_schema::{AttributeIndex, AttributeSelector, Dn, Filter, Schema};
use fulgurite_store::{CsnVector, LogState, View};

use super::content::{Content, ContentRequest};
use super::cookie::{CookieForm, RequestCookie};
use super::entries::{RefreshEntries, Unchanged};
use super::rearrange::Rearrangement;
use super::run::{LogPlace, MOVED_MAX, PartProgress, Phase, SyncRun, done};
use crate::core::database::Database;
use crate::core::result::{self, OpResult, refuse};
use crate::core::session::Session;
use crate::directory::Directory;
use crate::search::output::SearchEnd;
use crate::search::run::SearchRun;
use crate::write::replicated::untold;

/// The number of changes that one log refresh names at most. Above it, everything is sent.
const CHANGES_MAX: usize = 1_000_000;

/// The first stage, by what the log knows about the consumer's state.
pub(crate) enum SyncPlan {
    /// Nothing has changed.
    Nothing,
    /// The changes at some positions.
    Log(LogPlace),
    /// The entries that the vector does not cover, by the index of entryCSN, and the deletions.
    Index(CsnVector),
    /// Every entry. Those that the vector covers are only named.
    Full(Option<CsnVector>),
    /// The base is missing. Only a part of a glued content begins without it.
    Missing,
}

/// The facts, besides the request, by which a refresh is planned.
#[derive(Clone, Copy)]
pub(crate) struct PlanRules {
    /// True if the base is the top of the database, and the scope has all below it.
    pub(crate) is_whole_tree: bool,
    /// True if an entry that has not changed since a state was part of the content then.
    pub(crate) has_unchanged: bool,
    /// The number of this server.
    pub(crate) server: u16,
    pub(crate) is_multi_provider: bool,
    /// True if the database is copied from another server.
    pub(crate) is_copy: bool,
    /// True if the content is a part of a glued one.
    pub(crate) is_part: bool,
    /// True if the refresh has to name all entries, as other parts do.
    pub(crate) names_all: bool,
}

/// A request of a consumer, and the answer of the log.
pub(crate) struct SyncStart {
    cookie: RequestCookie,
    /// The number of this server; 0 if it has none.
    server: u16,
    persists: bool,
    state: LogState,
    /// The deletions that a refresh from the entries begins with.
    deleted: Vec<[u8; 16]>,
    pub(crate) plan: SyncPlan,
    is_multi_provider: bool,
    is_copy: bool,
    /// True if the consumer's state covers all deletions that this server may not know.
    knows_untold: bool,
    /// True if the refresh tells deletions by UUIDs. Consumers that are servers give the hint, and
    /// get the number of each deletion.
    tells_uuids: bool,
    is_part: bool,
}

/// The search that the request describes.
pub(crate) struct SyncSearch<'d> {
    pub(crate) directory: &'d Directory,
    pub(crate) database: &'d Database,
    pub(crate) id: u32,
    pub(crate) base: Dn,
    pub(crate) scope: fulgurite_ldap::Scope,
    pub(crate) filter: std::sync::Arc<Filter<AttributeSelector>>,
    pub(crate) projection: crate::rights::projection::Projection,
    pub(crate) has_referrals: bool,
    pub(crate) size_max: Option<u32>,
}

impl SyncStart {
    /// Plans the refresh for a request.
    ///
    /// # Errors
    /// unwillingToPerform for a consumer that knows more than this server. One of several
    /// providers only counts its own changes.
    pub(crate) fn plan(
        view: &View<'_>,
        request: &SyncRequest<'_>,
        rules: PlanRules,
    ) -> OpResult<SyncStart> {
        let PlanRules {
            is_whole_tree,
            server,
            is_multi_provider,
            is_copy,
            ..
        } = rules;
        let failed = |error| result::store(&error);
        let mut cookie = RequestCookie::parse(request.cookie);
        // The cookies of a glued content have no facts about single entries.
        cookie.is_peer &= !rules.is_part;
        let state = view.changes().map_err(failed)?;
        let known = &cookie.vector;
        // A provider among several is behind others in what they have changed.
        let is_newer = |held: fulgurite_store::PackedCsn| {
            (!is_multi_provider || server == held.server())
                && known.of(held.server()).is_some_and(|csn| csn > held)
        };
        if !rules.is_part && state.vector.iter().any(is_newer) {
            return Err(newer_consumer());
        }
        // A merge changes entries whose entryCSN stays. Not all providers tell deletions, so one of
        // several may lack some.
        let has_index =
            rules.has_unchanged && !is_multi_provider && known.covers_all(&state.tombstone_horizon);
        let by_entries = || match has_index {
            true => SyncPlan::Index(known.clone()),
            // An entry may have entered another scope unchanged.
            false => SyncPlan::Full(Some(known.clone()).filter(|_| is_whole_tree)),
        };
        // One of several providers may not know all deletions, if others tell no numbers of them.
        let knows_untold = match is_multi_provider {
            true => known.covers_all(&untold(view).map_err(failed)?),
            false => true,
        };
        // Of a server that the cookie does not name, the consumer lacks each change. The log has
        // them all unless its horizon names that server.
        let plan = if known.is_empty() || state.vector.is_empty() {
            SyncPlan::Full(None)
        } else if rules.names_all {
            SyncPlan::Full(Some(known.clone()).filter(|_| is_whole_tree))
        } else if known.covers_all(&state.horizon) && knows_untold {
            // A copy has changes that the vector does not cover yet.
            match view.changes_beyond(known, CHANGES_MAX).map_err(failed)? {
                Some(positions) if positions.is_empty() && known.covers_all(&state.vector) => {
                    SyncPlan::Nothing
                }
                Some(positions) => {
                    let count = positions.len();
                    let place = LogPlace::of(view, positions, state.newest).map_err(failed)?;
                    match place.is_plain || count <= MOVED_MAX {
                        true => SyncPlan::Log(place),
                        false => by_entries(),
                    }
                }
                None => by_entries(),
            }
        } else {
            by_entries()
        };
        let deleted = match plan {
            SyncPlan::Index(_) => view.deleted_beyond(known).map_err(failed)?,
            SyncPlan::Full(_) if cookie.is_peer => view.deleted_beyond(known).map_err(failed)?,
            _ => Vec::new(),
        };
        Ok(SyncStart {
            is_multi_provider,
            is_copy,
            knows_untold,
            persists: request.mode == SyncMode::RefreshAndPersist,
            tells_uuids: !request.reload_hint && !cookie.is_of_same_program,
            cookie,
            server,
            state,
            deleted,
            plan,
            is_part: rules.is_part,
        })
    }

    /// Plans a part of a glued content whose base is missing.
    ///
    /// If the base is the suffix, the database is empty. Then its log tells all deletions. So other
    /// parts need not name all of their entries, and can send changes in the order of their logs.
    pub(crate) fn without_base(
        view: &View<'_>,
        request: &SyncRequest<'_>,
        rules: PlanRules,
        is_suffix: bool,
    ) -> OpResult<SyncStart> {
        let start = SyncStart::plan(view, request, rules)?;
        let tells_all = matches!(start.plan, SyncPlan::Nothing | SyncPlan::Log(_));
        let plan = match is_suffix && tells_all {
            true => start.plan,
            // There is no entry to be sent or named.
            false => SyncPlan::Missing,
        };
        Ok(SyncStart {
            deleted: Vec::new(),
            plan,
            ..start
        })
    }

    /// Returns the state of the store.
    pub(super) fn vector(&self) -> &CsnVector {
        &self.state.vector
    }

    /// Returns true if the refresh tells all deletions, and need not name the other entries.
    pub(crate) fn tells_deletions(&self) -> bool {
        match self.plan {
            SyncPlan::Nothing | SyncPlan::Log(_) | SyncPlan::Index(_) => true,
            SyncPlan::Full(_) => self.is_first(),
            // Its content has gone, if it had any.
            SyncPlan::Missing => self.is_first() || self.state.vector.is_empty(),
        }
    }

    /// Returns the end of a search in a database that has had no content yet. `None` if it has had,
    /// or if the consumer wants to wait. As in slapd, the base is missing then.
    ///
    /// # Errors
    /// unwillingToPerform for a consumer that has a state.
    pub(crate) fn without_content(
        view: &View<'_>,
        request: &SyncRequest<'_>,
    ) -> OpResult<Option<SearchEnd>> {
        let state = view.changes().map_err(|error| result::store(&error))?;
        if !state.vector.is_empty() || request.mode == SyncMode::RefreshAndPersist {
            return Ok(None);
        }
        if !RequestCookie::parse(request.cookie).vector.is_empty() {
            let text = "consumer has state info but provider doesn't!";
            return Err(refuse(ResultCode::UnwillingToPerform, text));
        }
        Ok(Some(done(None, true)))
    }

    /// Returns true for a consumer that has no entry. A copy without a state may have entries of a
    /// first refresh that broke off.
    fn is_first(&self) -> bool {
        self.cookie.vector.is_empty() && !self.cookie.is_of_copy
    }

    fn form(&self) -> CookieForm {
        CookieForm {
            rid: self.cookie.rid,
            server: self.server,
            is_peer: self.cookie.is_peer,
        }
    }

    /// Returns the name of the consumer for people.
    fn reader_name(&self, session: &Session) -> String {
        let (rid, connection) = (self.cookie.rid, session.connection().id);
        let server = self.cookie.server;
        let server = server.map_or_else(String::new, |server| format!(" sid={server:03x}"));
        format!("rid={rid:03}{server} conn={connection}")
    }

    /// Returns the part of a search's output that a full refresh adds.
    pub(crate) fn entries(&self) -> RefreshEntries {
        let (covered, unchanged) = match &self.plan {
            SyncPlan::Full(covered) => (covered.clone(), Unchanged::Named),
            SyncPlan::Index(covered) => (Some(covered.clone()), Unchanged::Omitted),
            _ => (None, Unchanged::Named),
        };
        RefreshEntries::new((covered, unchanged), self.form(), self.is_multi_provider)
    }

    /// Returns the filter of the entries that an index refresh looks at.
    pub(crate) fn narrowing(&self, schema: &Schema) -> Option<Filter<AttributeSelector>> {
        let SyncPlan::Index(covered) = &self.plan else {
            return None;
        };
        // In its own refresh, a copy gets old changes of servers that no state names yet.
        if self.is_copy {
            return None;
        }
        // Numbers of different servers are ordered by their time. The index has no other order.
        let oldest = covered.iter().map(|csn| csn.text()).min()?;
        let filter = FilterBuf::parse(&format!("(entryCSN>={oldest})")).ok()?;
        Some(Filter::resolve(schema, &filter.filter()))
    }

    /// Begins the first stage. A full refresh brings the search of all entries.
    ///
    /// # Errors
    /// The end of a search that is done at once. `out` may have messages before it.
    pub(crate) fn begin<'d>(
        self,
        session: &Session,
        search: SyncSearch<'d>,
        full: Option<Box<SearchRun<'d>>>,
        out: &mut Vec<u8>,
    ) -> Result<Box<SyncRun<'d>>, Box<SearchEnd>> {
        let core = search.directory.core();
        let filter_types = filter_types(&core.schema, &search.filter);
        let content = ContentRequest {
            id: search.id,
            base: search.base,
            scope: search.scope,
            filter: search.filter,
            projection: search.projection,
            has_referrals: search.has_referrals,
        };
        let decisions = search.database.decisions(session);
        let mut content = Content::new(core, search.database, decisions, content);
        content.peer = Some(self.form()).filter(|form| form.is_peer);
        content.may_lack_base = self.is_part && search.database.suffixes().contains(&content.base);
        let form = self.form();
        let (is_first, tells_deletions) = (self.is_first(), self.tells_deletions());
        let own_server = self.cookie.other_server(self.server);
        let reader = search.database.store.read_log(self.reader_name(session));
        let newest = self.state.newest;
        let vector = self.state.vector;
        // An entry that has left a part of the tree leaves no deletion.
        let tells_all = self.cookie.is_peer
            && content.is_whole
            && self.knows_untold
            && self.cookie.vector.covers_all(&self.state.tombstone_horizon);
        let after_all = LogPlace {
            after: newest,
            ..LogPlace::default()
        };
        let mut part = self.is_part.then(|| PartProgress {
            reached: vector.clone(),
            refreshed: None,
        });
        let (phase, told, place) = match (self.plan, full) {
            (SyncPlan::Nothing | SyncPlan::Missing, _) if part.is_some() => {
                if let Some(part) = &mut part {
                    part.refreshed = Some(tells_deletions);
                }
                (Phase::Persist, self.cookie.vector, after_all)
            }
            (SyncPlan::Nothing, _) if !self.persists => return Err(Box::new(done(None, true))),
            (SyncPlan::Nothing, _) => {
                let end = PhaseEnd {
                    cookie: None,
                    refresh_done: true,
                };
                encode::sync_info(out, search.id, &SyncInfo::RefreshDelete(end));
                (Phase::Persist, vector, after_all)
            }
            (SyncPlan::Log(place), _) => (Phase::Log, self.cookie.vector, place),
            (plan @ (SyncPlan::Full(_) | SyncPlan::Index(_)), Some(search)) => {
                let phase = Phase::Full {
                    search,
                    vector,
                    deleted: self.deleted.into_iter(),
                    tells_deletions: is_first || tells_all || matches!(plan, SyncPlan::Index(_)),
                };
                (phase, self.cookie.vector, after_all)
            }
            (SyncPlan::Full(_) | SyncPlan::Index(_) | SyncPlan::Missing, _) => {
                let end = SearchEnd::plain(LdapResult::new(ResultCode::Other));
                return Err(Box::new(end));
            }
        };
        content.tells_uuids = self.tells_uuids && !matches!(phase, Phase::Persist);
        reader.reach(place.told(), !matches!(phase, Phase::Persist));
        Ok(Box::new(SyncRun {
            content,
            form,
            own_server,
            is_like_slapd: !self.cookie.is_of_same_program,
            waiting: (self.persists && !self.is_part).then(|| core.changes.register()),
            size_max: search.size_max,
            filter_types,
            phase,
            told,
            place,
            reader,
            work: None,
            unsent: Rearrangement::default(),
            sent: 0,
            worked: 0,
            told_at: 0,
            before: Vec::new(),
            part,
        }))
    }
}

/// Returns slapd's refusal of a consumer that knows more than its provider.
pub(super) fn newer_consumer() -> LdapResult {
    let text = "consumer state is newer than provider!";
    refuse(ResultCode::UnwillingToPerform, text)
}

/// Returns the attribute types whose changes may change what a filter says; `None` for all.
fn filter_types(
    schema: &Schema,
    filter: &Filter<AttributeSelector>,
) -> Option<Vec<AttributeIndex>> {
    let mut types = vec![schema.object_class_attribute()];
    let mut is_known = true;
    let _ = filter.clone().map(&mut |selector: AttributeSelector| {
        let named = schema.attribute_at(selector.attribute);
        types.extend(&named.subtypes);
        types.push(selector.attribute);
        selector
    });
    collect(filter, &mut is_known);
    is_known.then_some(types)
}

/// Clears `is_known` if the filter looks at more than attributes that it names.
fn collect(filter: &Filter<AttributeSelector>, is_known: &mut bool) {
    match filter {
        Filter::And(items) | Filter::Or(items) => {
            items.iter().for_each(|item| collect(item, is_known));
        }
        Filter::Not(item) => collect(item, is_known),
        Filter::Extensible { .. } | Filter::InChain { .. } | Filter::Entries(_) => {
            *is_known = false;
        }
        _ => {}
    }
}
