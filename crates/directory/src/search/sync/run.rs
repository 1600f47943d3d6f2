//! The stages of a synchronisation, one bounded step at a time.

use std::collections::VecDeque;

use fulgurite_ldap::control::{PhaseEnd, SyncDone, SyncInfo};
use fulgurite_ldap::{LdapResult, ResultCode, encode, oid};
use fulgurite_schema::{AttributeIndex, Dn};
use fulgurite_store::{
    ChangeKind, ChangeRecord, CsnVector, LogReader, PackedCsn, StoreError, View,
};

use super::batch::{Batch, BatchRules};
use super::content::{Content, Entrance};
use super::cookie::CookieForm;
use super::rearrange::{self, Rearrangement};
use super::send::{Sender, Stage};
use crate::core::change_signal::WaitingSearch;
use crate::core::result;
use crate::search::output::SearchEnd;
use crate::search::run::{Quantum, SearchRun};

/// The number of changes that one batch names at most. Behind it follows another one.
const BATCH_MAX: u64 = 65_536;

/// The same in a refresh by the log, unless names move or numbers go back. Thousands of copies may
/// come back at once.
const LOG_BATCH_MAX: u64 = 256;

/// The same in a refresh by the log if names move. They are read at once. Beyond that
/// number, the refresh sends the entries.
pub(super) const MOVED_MAX: usize = 65_536;

/// The same in the persist stage, unless names move. Thousands of searches may be in it, and a
/// quantum sends so few changes at once. So none holds a batch or a snapshot between its turns.
const PERSIST_BATCH_MAX: u64 = 4;

/// Bytes above its quantum that the rest of such a batch may take.
const PERSIST_BYTES_MORE: usize = 64 * 1024;

/// The number of entries of a refresh after which a cookie tells how far the consumer has come.
const COOKIE_EVERY: u32 = 1_000;

/// A search with the Sync Request control.
pub(crate) struct SyncRun<'d> {
    pub(super) content: Content<'d>,
    pub(super) form: CookieForm,
    /// The number of the consumer's server. Its own changes are not sent in the persist stage.
    pub(super) own_server: Option<u16>,
    /// True if the consumer is another program (no `fg`).
    pub(super) is_like_slapd: bool,
    /// Present if the search goes on after the refresh.
    pub(super) waiting: Option<WaitingSearch>,
    pub(super) size_max: Option<u32>,
    /// The attributes of the filter; `None` if any attribute may matter.
    pub(super) filter_types: Option<Vec<AttributeIndex>>,
    pub(super) phase: Phase<'d>,
    /// The state of the consumer's copy, as it was told.
    pub(super) told: CsnVector,
    pub(super) place: LogPlace,
    /// The figures of this search for people.
    pub(super) reader: LogReader,
    pub(super) work: Option<BatchWork<'d>>,
    /// The messages of a batch whose snapshot was given up.
    pub(super) unsent: Rearrangement,
    pub(crate) sent: u32,
    pub(crate) worked: usize,
    pub(super) told_at: u32,
    /// Messages to be written first.
    pub(super) before: Vec<u8>,
    /// Present if the content is a part of a glued one.
    pub(super) part: Option<PartProgress>,
}

/// The progress of a run for a part of a content. The run of the whole tells cookies and ends.
#[derive(Debug, Default)]
pub(super) struct PartProgress {
    /// The state of the part's store up to which all has been sent.
    pub(super) reached: CsnVector,
    /// Present after the refresh: true if it told all deletions.
    pub(super) refreshed: Option<bool>,
}

/// A stage.
pub(super) enum Phase<'d> {
    /// Every entry, by an ordinary search.
    Full {
        search: Box<SearchRun<'d>>,
        /// The state that the consumer has afterwards.
        vector: CsnVector,
        /// Deletions that are not told yet.
        deleted: std::vec::IntoIter<[u8; 16]>,
        /// True if the consumer needs no other word to know all deletions.
        tells_deletions: bool,
    },
    /// The entries changed since the cookie.
    Log,
    /// Each change as it happens.
    Persist,
}

impl Phase<'_> {
    fn stage(&self) -> Stage {
        match self {
            Phase::Persist => Stage::Persist,
            _ => Stage::Refresh,
        }
    }
}

/// The part of the log that is not sent yet.
#[derive(Debug, Default)]
pub(crate) struct LogPlace {
    /// Positions up to `after`, ascending.
    pub(super) rest: VecDeque<u64>,
    /// All records behind this position.
    pub(super) after: u64,
    /// True if `rest` can be told a few at a time. No record renames an entry then, and the numbers
    /// of each server ascend.
    pub(super) is_plain: bool,
}

impl LogPlace {
    /// Returns the place of some positions, ascending, in a log up to `newest`.
    pub(super) fn of(
        view: &View<'_>,
        positions: Vec<u64>,
        newest: u64,
    ) -> Result<LogPlace, StoreError> {
        let (mut is_plain, mut seen) = (true, CsnVector::default());
        for &position in &positions {
            // The batch notices a record that is gone.
            if let Some(record) = view.change(position)? {
                is_plain &= record.kind != ChangeKind::Rename && !record.is_unordered;
                is_plain &= seen.raise(record.csn);
            }
            if !is_plain {
                break;
            }
        }
        let mut rest = VecDeque::from(positions);
        let mut after = newest;
        // The end of the log needs no list.
        while rest.back() == Some(&after) {
            rest.pop_back();
            after -= 1;
        }
        rest.shrink_to_fit();
        Ok(LogPlace {
            rest,
            after,
            is_plain,
        })
    }

    /// Returns the position up to which all has been told, about.
    pub(super) fn told(&self) -> u64 {
        let first = self.rest.front().map(|first| first.saturating_sub(1));
        first.unwrap_or(self.after)
    }

    /// Returns up to `count` positions, and leaves the others.
    fn take(&mut self, count: u64) -> Vec<u64> {
        let count = self
            .rest
            .len()
            .min(usize::try_from(count).unwrap_or(usize::MAX));
        self.rest.drain(..count).collect()
    }
}

/// A batch on its way, with the view that it was read from.
pub(super) struct BatchWork<'d> {
    view: Box<View<'d>>,
    batch: Batch,
    /// Present if names have moved. Its messages replace those of the batch.
    rearrangement: Option<Rearrangement>,
    next: usize,
    /// True if one quantum sends the whole batch.
    is_short: bool,
    /// The content's state at the end of the batch.
    vector: CsnVector,
    newest: u64,
}

/// The progress of a step.
pub(crate) enum SyncProgress {
    More,
    /// Nothing to do until the next commit.
    Waiting,
    End(SearchEnd),
}

impl<'d> SyncRun<'d> {
    /// Adds messages that come first.
    pub(crate) fn after(mut self: Box<Self>, before: Vec<u8>) -> Box<Self> {
        self.before = before;
        self
    }

    /// Returns the state up to which a part has been sent.
    pub(super) fn reached(&self) -> Option<&CsnVector> {
        self.part.as_ref().map(|part| &part.reached)
    }

    /// Returns true if the refresh of a part has told all deletions; `None` before its end.
    pub(super) fn refreshed(&self) -> Option<bool> {
        self.part.as_ref()?.refreshed
    }

    /// Notes the state that the consumer was told about all parts.
    pub(super) fn has_told(&mut self, vector: &CsnVector) {
        self.told.raise_all(vector);
    }

    /// Works for one quantum.
    pub(crate) fn advance(&mut self, out: &mut Vec<u8>, quantum: Quantum) -> SyncProgress {
        self.worked = 0;
        out.append(&mut self.before);
        let step = self.step(out, quantum);
        self.reader.told(u64::from(self.sent));
        let is_refreshing = !matches!(self.phase, Phase::Persist);
        self.reader.reach(self.place.told(), is_refreshing);
        step.unwrap_or_else(|error| SyncProgress::End(SearchEnd::plain(result::store(&error))))
    }

    /// Gives up the snapshot. The rest of the batch is read again. A rearrangement goes on, as a
    /// part of the next one.
    pub(crate) fn park(&mut self) {
        if let Phase::Full { search, .. } = &mut self.phase {
            search.park();
        }
        if let Some(work) = self.work.take() {
            match work.rearrangement {
                None => {
                    let again: Vec<u64> = work.batch.rest().collect();
                    let again = again.into_iter().rev();
                    again.for_each(|position| self.place.rest.push_front(position));
                }
                Some(rearrangement) => self.unsent = rearrangement,
            }
            self.place.after = work.newest;
            self.content.leave();
        }
    }

    fn step(&mut self, out: &mut Vec<u8>, quantum: Quantum) -> Result<SyncProgress, StoreError> {
        if let Phase::Full { .. } = self.phase {
            return self.step_full(out, quantum);
        }
        let bytes_end = out.len().saturating_add(quantum.bytes_max);
        loop {
            let has_room = self.worked < quantum.candidates_max && out.len() < bytes_end;
            let is_short = self.work.as_ref().is_some_and(|work| work.is_short);
            let may_end = is_short && out.len() < bytes_end.saturating_add(PERSIST_BYTES_MORE);
            if !has_room && !may_end {
                return Ok(SyncProgress::More);
            }
            if self.work.is_none() {
                if self
                    .waiting
                    .as_ref()
                    .is_some_and(WaitingSearch::is_outdated)
                {
                    return Ok(SyncProgress::End(self.done(&self.told.clone())));
                }
                match self.begin_batch(out)? {
                    Begun::Batch => {}
                    Begun::Nothing => return Ok(self.idle(out)),
                    Begun::Lost => return Ok(SyncProgress::End(refresh_required())),
                }
            }
            if let Some(end) = self.send_next(out)? {
                return Ok(SyncProgress::End(end));
            }
        }
    }

    fn step_full(
        &mut self,
        out: &mut Vec<u8>,
        quantum: Quantum,
    ) -> Result<SyncProgress, StoreError> {
        if self.tell_deleted(out, quantum)? {
            return Ok(SyncProgress::More);
        }
        let Phase::Full {
            search,
            vector,
            tells_deletions,
            ..
        } = &mut self.phase
        else {
            return Ok(SyncProgress::More);
        };
        let end = search.advance(out, quantum);
        self.worked = search.worked;
        self.sent = search.output.sent;
        let Some(end) = end else {
            return Ok(SyncProgress::More);
        };
        if end.result.code != ResultCode::Success {
            return Ok(SyncProgress::End(end));
        }
        if let Some(entries) = &mut search.output.sync {
            entries.flush(out, self.content.id);
        }
        let (vector, deletes) = (std::mem::take(vector), *tells_deletions);
        if let Some(part) = &mut self.part {
            part.reached.clone_from(&vector);
            self.told.raise_all(&vector);
        } else {
            self.told = vector;
        }
        let cookie = self.form.vector(&self.told);
        Ok(self.end_refresh(out, Some(&cookie), deletes))
    }

    /// Tells a peer the deletions that a full refresh begins with. Returns true if any was left.
    fn tell_deleted(&mut self, out: &mut Vec<u8>, quantum: Quantum) -> Result<bool, StoreError> {
        let Phase::Full { deleted, .. } = &mut self.phase else {
            return Ok(false);
        };
        if deleted.len() == 0 {
            return Ok(false);
        }
        let bytes_end = out.len().saturating_add(quantum.bytes_max);
        let view = self.content.database.store.snapshot()?;
        self.content.enter(&view)?;
        let cookie = self.content.tells_uuids && self.part.is_none();
        let cookie = cookie.then(|| self.form.vector(&self.told));
        while self.worked < quantum.candidates_max && out.len() < bytes_end {
            let Some(uuid) = deleted.next() else { break };
            self.worked += 1;
            let tombstone = view.tombstone(uuid)?;
            if let Some(tombstone) = tombstone {
                self.content
                    .write_gone(&view, (uuid, tombstone.dn), cookie.as_deref(), out)?;
            }
        }
        self.content.leave();
        Ok(true)
    }

    /// Ends the refresh. With `deletes`, the consumer knows all deletions.
    fn end_refresh(
        &mut self,
        out: &mut Vec<u8>,
        cookie: Option<&[u8]>,
        deletes: bool,
    ) -> SyncProgress {
        self.content.tells_uuids = false;
        if let Some(part) = &mut self.part {
            part.refreshed = Some(deletes);
            self.phase = Phase::Persist;
            return SyncProgress::Waiting;
        }
        if self.waiting.is_none() {
            return SyncProgress::End(done(cookie, deletes));
        }
        let end = PhaseEnd {
            cookie,
            refresh_done: true,
        };
        let info = match deletes {
            true => SyncInfo::RefreshDelete(end),
            false => SyncInfo::RefreshPresent(end),
        };
        encode::sync_info(out, self.content.id, &info);
        self.phase = Phase::Persist;
        SyncProgress::More
    }

    /// Tells the consumer how far it has come, and waits.
    fn idle(&mut self, out: &mut Vec<u8>) -> SyncProgress {
        if let Phase::Log = self.phase {
            let cookie = self.form.vector(&self.told);
            return self.end_refresh(out, Some(&cookie), true);
        }
        self.content.leave();
        SyncProgress::Waiting
    }

    /// Returns the end of a search that goes on elsewhere, or not at all.
    fn done(&self, vector: &CsnVector) -> SearchEnd {
        done(Some(&self.form.vector(vector)), true)
    }

    /// Reads the next part of the log.
    fn begin_batch(&mut self, out: &mut Vec<u8>) -> Result<Begun, StoreError> {
        let view = Box::new(self.content.database.store.snapshot()?);
        let state = view.changes()?;
        let place = &mut self.place;
        let is_complete = place.rest.is_empty() && self.unsent.is_empty();
        if is_complete && place.after >= state.newest {
            if let Some(part) = &mut self.part {
                part.reached.clone_from(&state.vector);
            }
            self.tell(out, &state.vector);
            return Ok(Begun::Nothing);
        }
        if place.after < state.newest && place.after + 1 < state.oldest {
            return Ok(Begun::Lost);
        }
        // Entries have their newest names. With the change of the name, the batch tells who had
        // the name before.
        let oldest = place.rest.front().copied().unwrap_or(place.after);
        let store = &self.content.database.store;
        let is_short = matches!(self.phase, Phase::Persist) && !store.has_renamed_since(oldest);
        place.is_plain &= matches!(self.phase, Phase::Log) && !store.has_renamed_since(place.after);
        if !place.is_plain && place.rest.len() > MOVED_MAX {
            // Names have moved since the refresh was planned.
            return Ok(Begun::Lost);
        }
        let mut positions = place.take(match place.is_plain {
            true => LOG_BATCH_MAX,
            false => u64::MAX,
        });
        let room = match place.is_plain {
            true => LOG_BATCH_MAX - positions.len() as u64,
            false if is_short => PERSIST_BATCH_MAX,
            false => BATCH_MAX,
        };
        let newest = state.newest.min(place.after.saturating_add(room));
        let is_last = newest == state.newest && place.rest.is_empty();
        positions.extend(place.after + 1..=newest);
        let filter_types = &self.filter_types;
        let touches_filter = |record: &ChangeRecord<'_>| {
            let Some(types) = filter_types else {
                return Ok(true);
            };
            if let Some(rename) = &record.rename {
                let names = [record.dn, rename.new_rdn];
                let names = names.map(|name| Dn::parse(view.schema(), name));
                let rdns = names.iter().flatten().filter_map(Dn::rdn);
                let mut named = rdns.flat_map(|rdn| rdn.avas());
                if named.any(|ava| types.contains(&ava.attribute)) {
                    return Ok(true);
                }
            }
            let operations = record.operations()?;
            let mut changed = operations.iter();
            Ok(changed.any(|operation| {
                let described = view.schema().describe(operation.attribute.as_bytes());
                described.map_or(true, |described| types.contains(&described.attribute))
            }))
        };
        let rules = BatchRules {
            schema: view.schema(),
            own_server: self.own_server,
            is_whole: self.content.is_whole,
            touches_filter: &touches_filter,
        };
        let Some(mut batch) = Batch::read(&view, &positions, &rules)? else {
            return Ok(Begun::Lost);
        };
        if let Phase::Persist = self.phase {
            batch.skip_own();
        }
        self.worked += positions.len() / 8;
        if !self.content.enter(&view)? {
            // The base is gone, and with it the content.
            return Ok(Begun::Lost);
        }
        // A rearrangement may go on without new records. The entrance of the batch before stays.
        if let (Phase::Persist, true, Some(csn)) = (&self.phase, self.is_like_slapd, batch.newest())
        {
            let known = self.told.clone();
            self.content.entrance = Some(Entrance { csn, known });
        }
        let rearrangement = self.rearrange(&batch, &view)?;
        // Before the newest position, only what the records say is known.
        let vector = match is_last {
            true => state.vector,
            false => self.told.clone(),
        };
        self.work = Some(BatchWork {
            view,
            batch,
            rearrangement,
            next: 0,
            is_short,
            vector,
            newest,
        });
        Ok(Begun::Batch)
    }

    /// Plans the messages of a batch in which names have moved.
    fn rearrange(
        &mut self,
        batch: &Batch,
        view: &View<'d>,
    ) -> Result<Option<Rearrangement>, StoreError> {
        let content = &mut self.content;
        if self.unsent.is_empty() && !rearrange::is_needed(batch, content, view)? {
            return Ok(None);
        }
        let unsent = std::mem::take(&mut self.unsent);
        let stage = self.phase.stage();
        let planned = Rearrangement::plan(unsent, batch, (content, view), stage)?;
        self.worked += planned.len();
        Ok(Some(planned))
    }

    /// Sends the next entry of the batch, or ends it.
    fn send_next(&mut self, out: &mut Vec<u8>) -> Result<Option<SearchEnd>, StoreError> {
        let Some(work) = &mut self.work else {
            return Ok(None);
        };
        self.worked += 1;
        let before = self.told.clone();
        let is_done = match &work.rearrangement {
            Some(rearrangement) => rearrangement.is_empty(),
            None => work.next >= work.batch.entries.len(),
        };
        if is_done {
            work.batch.pass(usize::MAX, &mut self.told);
            let (vector, newest) = (std::mem::take(&mut work.vector), work.newest);
            self.work = None;
            self.content.leave();
            self.place.after = newest;
            match self.phase {
                Phase::Persist => {
                    self.told = before;
                    self.tell(out, &vector);
                }
                _ => self.told.raise_all(&vector),
            }
            return Ok(None);
        }
        if self.size_max.is_some_and(|max| self.sent >= max) {
            let result = LdapResult::new(ResultCode::SizeLimitExceeded);
            return Ok(Some(SearchEnd::plain(result)));
        }
        if let Some(rearrangement) = &mut work.rearrangement {
            rearrangement.send_next(&mut self.content, &work.view, out)?;
            self.sent += 1;
            return Ok(None);
        }
        work.batch.pass(work.next + 1, &mut self.told);
        let number = work.next;
        work.next += 1;
        let stage = self.phase.stage();
        let cookie = self.entry_cookie(&before, stage, number);
        let set_cookie = self.only_moved(&before).map(|csn| self.form.number(csn));
        let Some(work) = &mut self.work else {
            return Ok(None);
        };
        let len = out.len();
        let mut sender = Sender {
            content: &mut self.content,
            batch: &mut work.batch,
            view: &work.view,
            stage,
            has_sets: self.is_like_slapd && stage == Stage::Refresh,
            set_cookie,
            sent: 0,
            worked: 0,
        };
        sender.send(number, cookie.as_deref(), out)?;
        let (sent, worked) = (sender.sent, sender.worked);
        self.sent += sent;
        self.worked += worked;
        // Without its message or its cookie, a later one tells the state.
        if stage == Stage::Persist && (out.len() == len || cookie.is_none()) {
            self.told = before;
        } else if stage == Stage::Refresh
            && self.sent >= self.told_at + COOKIE_EVERY
            && self.told != before
            && self.part.is_none()
        {
            self.told_at = self.sent;
            let cookie = self.form.vector(&self.told);
            encode::sync_info(out, self.content.id, &SyncInfo::NewCookie(&cookie));
        }
        Ok(None)
    }

    /// Returns the cookie for the message of an entry: one number if only one has moved.
    ///
    /// slapd passes over a message if it has the first number of its cookie already. So only a
    /// peer gets more than one number with an entry.
    fn entry_cookie(&self, before: &CsnVector, stage: Stage, number: usize) -> Option<Vec<u8>> {
        if self.told == *before || self.part.is_some() {
            return None;
        }
        if stage == Stage::Refresh {
            // Like slapd, only deletions carry one. Whole entries come in their order anyway.
            let entry = self.work.as_ref()?.batch.entries.get(number)?;
            let has_one = self.form.is_peer || self.told.iter().nth(1).is_none();
            return (entry.is_deleted && has_one).then(|| self.form.vector(&self.told));
        }
        match self.only_moved(before) {
            Some(only) => Some(self.form.number(only)),
            None => self.form.is_peer.then(|| self.form.vector(&self.told)),
        }
    }

    /// Returns the number that has moved, if only one has.
    fn only_moved(&self, before: &CsnVector) -> Option<PackedCsn> {
        if self.part.is_some() {
            return None;
        }
        let mut moved = self.told.iter().filter(|csn| !before.covers(*csn));
        moved.next().filter(|_| moved.next().is_none())
    }

    /// Tells the consumer a state that no entry has told. The end of a refresh tells it otherwise.
    fn tell(&mut self, out: &mut Vec<u8>, vector: &CsnVector) {
        if self.told.covers_all(vector) {
            return;
        }
        self.told.raise_all(vector);
        if !matches!(self.phase, Phase::Persist) || self.part.is_some() {
            return;
        }
        let cookie = self.form.vector(&self.told);
        encode::sync_info(out, self.content.id, &SyncInfo::NewCookie(&cookie));
    }
}

/// The outcome of reading the log.
enum Begun {
    Batch,
    Nothing,
    /// The log does not reach back so far.
    Lost,
}

/// Returns the end of a refresh in mode 1.
pub(super) fn done(cookie: Option<&[u8]>, deletes: bool) -> SearchEnd {
    let done = SyncDone {
        cookie,
        refresh_deletes: deletes,
    };
    let mut end = SearchEnd::plain(LdapResult::success());
    end.controls.push((oid::SYNC_DONE, done.encode()));
    end
}

/// Returns the end of a search whose consumer must begin anew.
pub(super) fn refresh_required() -> SearchEnd {
    let text = "sync cookie is stale";
    let code = ResultCode::ESyncRefreshRequired;
    SearchEnd::plain(LdapResult::with_diagnostic(code, text))
}
