//! The provider of a log of changes (slapd's delta-syncrepl): its records, one message each, in
//! the order of the log.
//!
//! A consumer repeats the operations. So it gets each record once, and nothing else: no state of
//! an entry, and no deletion. Where records are missing or out of order, only the entries
//! themselves help. The search then ends with e-syncRefreshRequired.

use std::collections::VecDeque;
use std::sync::Arc;

use fulgurite_access::{Decisions, EntryRights, Rights};
use fulgurite_ldap::control::{EntryState, PhaseEnd, SyncInfo, SyncMode, SyncRequest, SyncState};
use fulgurite_ldap::{LdapResult, MessageId, ResultCode, encode};
use fulgurite_schema::{AttributeSelector, Entry, Filter};
use fulgurite_store::{ChangeKind, ChangeRecord, CsnVector, LogState, Store, StoreError, View};

use super::cookie::{CookieForm, RequestCookie};
use super::entries::state_control;
use super::run::{SyncProgress, done, refresh_required};
use super::start::newer_consumer;
use crate::core::change_signal::WaitingSearch;
use crate::core::foundation::Core;
use crate::core::result::{self, OpResult, refuse};
use crate::generated::access_log::{AccessLog, LogPosition, own_uuid};
use crate::rights::facts::UnstoredFacts;
use crate::rights::projection::Projection;
use crate::rights::visible_entry::VisibleEntry;
use crate::search::output::SearchEnd;
use crate::search::run::Quantum;
use crate::write::replicated::untold;

/// The number of records of a refresh at most. Above it, the consumer reads the entries.
const RECORDS_MAX: usize = 1_000_000;

/// A search of a consumer in a log.
pub(crate) struct LogContent<'d> {
    core: &'d Core,
    log: &'d AccessLog,
    store: &'d Store,
    search: LogSearch<'d>,
    form: CookieForm,
    /// The number of the consumer's server. Its own changes are not sent in the persist stage.
    own_server: Option<u16>,
    /// Present if the search goes on after the refresh.
    waiting: Option<WaitingSearch>,
    /// The positions of the refresh, and the last record that it covers.
    rest: VecDeque<u64>,
    after: u64,
    /// The state at the end of the refresh; `None` in the persist stage.
    refresh_end: Option<RefreshEnd>,
    told: CsnVector,
    pub(crate) sent: u32,
    pub(crate) worked: usize,
}

/// The end of a refresh.
struct RefreshEnd {
    vector: CsnVector,
    /// True if the consumer has got all that it lacked.
    is_complete: bool,
}

/// The search that the request describes.
pub(crate) struct LogSearch<'d> {
    pub(crate) id: MessageId,
    pub(crate) decisions: Decisions<'d>,
    pub(crate) filter: Arc<Filter<AttributeSelector>>,
    pub(crate) projection: Projection,
    pub(crate) size_max: Option<u32>,
}

/// The records of a refresh.
struct LogRefresh {
    positions: Vec<u64>,
    is_complete: bool,
}

impl<'d> LogContent<'d> {
    /// Begins the search.
    ///
    /// # Errors
    /// e-syncRefreshRequired for a consumer that lacks more than the log has. unwillingToPerform
    /// for one that knows more, or for the logs of several databases.
    pub(crate) fn begin(
        core: &'d Core,
        log: &'d AccessLog,
        search: LogSearch<'d>,
        request: &SyncRequest<'_>,
    ) -> OpResult<Box<LogContent<'d>>> {
        let Some(store) = log.sole_store() else {
            let text = "the log shows the changes of several databases";
            return Err(refuse(ResultCode::UnwillingToPerform, text));
        };
        let failed = |error| result::store(&error);
        let view = store.snapshot().map_err(failed)?;
        let state = view.changes().map_err(failed)?;
        let cookie = RequestCookie::parse(request.cookie);
        let own = core.csn.server();
        if let Some(known) = cookie.vector.of(own)
            && state.vector.of(own).is_some_and(|newest| newest < known)
        {
            return Err(newer_consumer());
        }
        let refresh = refresh(&view, &state, &cookie.vector, request.reload_hint);
        let refresh = refresh.map_err(failed)?;
        let Some(refresh) = refresh else {
            return Err(refresh_required().result);
        };
        let persists = request.mode == SyncMode::RefreshAndPersist;
        Ok(Box::new(LogContent {
            core,
            log,
            store,
            search,
            form: CookieForm {
                rid: cookie.rid,
                server: core.csn.server(),
                is_peer: false,
            },
            own_server: cookie.server,
            waiting: persists.then(|| core.changes.register()),
            rest: refresh.positions.into(),
            after: state.newest,
            refresh_end: Some(RefreshEnd {
                vector: state.vector,
                is_complete: refresh.is_complete,
            }),
            told: cookie.vector,
            sent: 0,
            worked: 0,
        }))
    }

    /// Works for one quantum.
    pub(crate) fn advance(&mut self, out: &mut Vec<u8>, quantum: Quantum) -> SyncProgress {
        self.worked = 0;
        let step = self.step(out, quantum);
        step.unwrap_or_else(|error| SyncProgress::End(SearchEnd::plain(result::store(&error))))
    }

    fn step(&mut self, out: &mut Vec<u8>, quantum: Quantum) -> Result<SyncProgress, StoreError> {
        let view = self.store.snapshot()?;
        let state = view.changes()?;
        let bytes_end = out.len().saturating_add(quantum.bytes_max);
        while self.worked < quantum.candidates_max.max(1) && out.len() < bytes_end {
            let waiting = self.waiting.as_ref();
            if waiting.is_some_and(WaitingSearch::is_outdated) {
                let cookie = self.form.vector(&self.told);
                return Ok(SyncProgress::End(done(Some(&cookie), true)));
            }
            let Some(position) = self.next_position(&state) else {
                match self.pause(out, &state) {
                    Some(progress) => return Ok(progress),
                    None => continue,
                }
            };
            self.worked += 1;
            // Records that came out of order would look old to the consumer.
            let record = view
                .change(position)?
                .filter(|record| !record.is_unordered && record.kind != ChangeKind::Loaded);
            let Some(record) = record else {
                return Ok(SyncProgress::End(refresh_required()));
            };
            if self.search.size_max.is_some_and(|max| self.sent >= max) {
                let result = LdapResult::new(ResultCode::SizeLimitExceeded);
                return Ok(SyncProgress::End(SearchEnd::plain(result)));
            }
            self.record(position, &record, out)?;
        }
        Ok(SyncProgress::More)
    }

    fn next_position(&mut self, state: &LogState) -> Option<u64> {
        if self.refresh_end.is_some() {
            return self.rest.pop_front();
        }
        if self.after >= state.newest {
            return None;
        }
        self.after += 1;
        Some(self.after)
    }

    /// Ends the refresh, or waits. `None` lets the search go on in the persist stage.
    fn pause(&mut self, out: &mut Vec<u8>, state: &LogState) -> Option<SyncProgress> {
        let Some(end) = self.refresh_end.take() else {
            if !self.told.covers_all(&state.vector) {
                self.told.raise_all(&state.vector);
                let cookie = self.form.vector(&self.told);
                encode::sync_info(out, self.search.id, &SyncInfo::NewCookie(&cookie));
            }
            return Some(SyncProgress::Waiting);
        };
        self.told.raise_all(&end.vector);
        let cookie = self.form.vector(&end.vector);
        if self.waiting.is_none() {
            return Some(SyncProgress::End(done(Some(&cookie), end.is_complete)));
        }
        let phase = PhaseEnd {
            cookie: Some(&cookie),
            refresh_done: true,
        };
        let info = match end.is_complete {
            true => SyncInfo::RefreshDelete(phase),
            false => SyncInfo::RefreshPresent(phase),
        };
        encode::sync_info(out, self.search.id, &info);
        None
    }

    /// Sends a record, if the consumer asked for it.
    fn record(
        &mut self,
        position: u64,
        record: &ChangeRecord<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let is_own = self.own_server == Some(record.csn.server());
        if is_own && self.refresh_end.is_none() {
            return Ok(());
        }
        let (core, at) = (self.core, LogPosition { store: 0, position });
        let Some(entry) = self.log.entry_of(&core.schema, at, record)? else {
            return Ok(());
        };
        let search = &self.search;
        let facts = UnstoredFacts::unstored(core, Some(&entry));
        let rights = search.decisions.at(entry.dn.normal(), &facts);
        if !search.admits(core, &entry, rights) {
            return Ok(());
        }
        // Records are missing before a reload. So its end alone tells how far it reaches.
        let tells = self.refresh_end.as_ref().is_none_or(|end| end.is_complete);
        let cookie = tells.then(|| self.form.number(record.csn));
        let state = SyncState {
            state: EntryState::Add,
            entry_uuid: own_uuid(at, record),
            cookie: cookie.as_deref(),
        };
        let value = state.encode();
        let controls = &[state_control(&value)];
        let target = (out, search.id);
        search
            .projection
            .write_unstored_with(target, &entry, &core.schema, rights, controls);
        if tells {
            self.told.raise(record.csn);
        }
        self.sent += 1;
        Ok(())
    }
}

impl LogSearch<'_> {
    /// Returns true if the requester may read an entry, and the filter matches it.
    pub(super) fn admits(&self, core: &Core, entry: &Entry, rights: EntryRights<'_>) -> bool {
        let visible = VisibleEntry {
            schema: &core.schema,
            entry,
            rights,
            needed: Rights::SEARCH,
        };
        rights.entry().allows(Rights::READ) && self.filter.test(&core.schema, &visible).is_true()
    }
}

/// Returns the records that a consumer lacks; `None` if the log cannot tell all of them.
///
/// A consumer that asks for a reload gets the whole log then. slapd's wants the entries instead.
fn refresh(
    view: &View<'_>,
    state: &LogState,
    known: &CsnVector,
    reload: bool,
) -> Result<Option<LogRefresh>, StoreError> {
    let lacks = |csn: fulgurite_store::PackedCsn| known.of(csn.server()).is_none();
    let has_nothing = known.is_empty() && state.horizon.is_empty();
    let knows_all = known.covers_all(&state.horizon) && known.covers_all(&untold(view)?);
    if knows_all && !state.vector.iter().any(lacks) || has_nothing {
        let positions = view.changes_beyond(known, RECORDS_MAX)?;
        return Ok(positions.map(|positions| LogRefresh {
            positions,
            is_complete: true,
        }));
    }
    let reloads = reload && state.len() <= RECORDS_MAX as u64;
    Ok(reloads.then(|| LogRefresh {
        positions: (state.oldest..=state.newest).collect(),
        is_complete: false,
    }))
}
