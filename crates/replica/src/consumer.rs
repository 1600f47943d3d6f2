//! The state machine of one consumer.

use fulgurite_ldap::control::{
    EntryState, PhaseEnd, SyncDone, SyncIdSet, SyncInfo, SyncMode, SyncState,
};
use fulgurite_ldap::{
    ContentChange, ContentEntry, Control, Controls, LdapResult, MessageId, Request, Response,
    ResponseMessage, ResultCode, SearchEntry, encode, oid,
};
use fulgurite_policy::{SyncData, Syncrepl};

use crate::bind::{Bind, BindSecrets};
use crate::retry::Retry;
use crate::search::{self, Source};
use crate::trouble::Trouble;
use crate::vector::Vector;
use crate::{cookie, log_entry};

/// The result code of a provider that cannot continue at a cookie (e-syncRefreshRequired).
const REFRESH_REQUIRED: u32 = 4096;

/// Milliseconds to wait for a connection unless the settings say otherwise. A server that stops
/// waits so long, too.
const CONNECT_TIMEOUT_MS: u64 = 10_000;

/// Milliseconds to wait for the end of a bind unless the settings say otherwise.
const BIND_TIMEOUT_MS: u64 = 60_000;

/// The position of a consumer in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// It has not begun.
    #[default]
    Idle,
    /// The driver connects.
    Connecting,
    /// The bind is under way.
    Binding,
    /// Changes up to now arrive.
    Refreshing,
    /// Changes arrive as they happen.
    Persisting,
    /// The next session begins later.
    Waiting,
    /// The retry list has ended.
    GaveUp,
}

impl Phase {
    /// Returns the word that cn=Monitor shows.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Phase::Idle => "Idle",
            Phase::Connecting => "Connecting",
            Phase::Binding => "Binding",
            Phase::Refreshing => "Refresh",
            Phase::Persisting => "Persist",
            Phase::Waiting => "Waiting",
            Phase::GaveUp => "Gave up",
        }
    }
}

/// The next thing that the driver does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Connect, and call [`Consumer::connected`].
    Connect {
        /// The time by which it has to be done.
        deadline_ms: u64,
    },
    /// Read a message, and call [`Consumer::receive`].
    Receive {
        /// The time by which one has to come.
        deadline_ms: Option<u64>,
    },
    /// Close the connection, if there is one, and wait until a time.
    Wait {
        /// The time of the next session.
        until_ms: u64,
    },
    /// Close the connection, if there is one: there is no other session.
    Stop,
}

/// Facts for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsumerStatus {
    /// The phase.
    pub phase: Phase,
    /// The time of the last message, in milliseconds.
    pub last_contact_ms: Option<u64>,
    /// The time of the last session's begin.
    pub last_connect_ms: Option<u64>,
    /// The time of the next session.
    pub next_connect_ms: Option<u64>,
    /// The cookie sent last.
    pub cookie_sent: String,
    /// The cookie received last.
    pub cookie_received: String,
    /// Entries that the present refresh has brought.
    pub refresh_entries: u64,
    /// The reason why the last session ended.
    pub trouble: Option<String>,
}

/// One consumer.
#[derive(Debug)]
pub struct Consumer {
    settings: Syncrepl,
    /// The number that cookies name, if the database has several providers.
    server: Option<u16>,
    /// The state that is stored.
    stored: Vector,
    /// The state at the end of all changes handed out.
    reached: Vector,
    retry: Retry,
    next_id: MessageId,
    bind: Option<Bind>,
    search: Option<Search>,
    /// The next search of entries asks for the whole content.
    needs_everything: bool,
    /// True once a refresh was begun anew because the provider could not go on with it.
    has_begun_anew: bool,
    /// The log cannot be used before a refresh from the entries.
    needs_refresh: bool,
    deadline_ms: Option<u64>,
    out: Vec<u8>,
    changes: Vec<ContentChange>,
    status: ConsumerStatus,
}

/// A search under way.
#[derive(Debug)]
struct Search {
    id: MessageId,
    source: Source,
    mode: SyncMode,
    /// True if the request had no state: whatever does not come is gone.
    is_whole: bool,
    /// True if the state at the end takes the place of a newer one.
    replaces: bool,
    /// True if any message has come.
    has_answered: bool,
    is_persisting: bool,
}

impl Consumer {
    /// Makes a consumer of a copy in the state `stored`. `server` is the number of this server if
    /// clients may update the copy.
    #[must_use]
    pub fn new(settings: Syncrepl, stored: Vector, server: Option<u16>) -> Consumer {
        Consumer {
            retry: Retry::new(settings.retry.as_ref()),
            needs_refresh: stored.is_empty(),
            reached: stored.clone(),
            stored,
            settings,
            server,
            next_id: 1,
            bind: None,
            search: None,
            needs_everything: false,
            has_begun_anew: false,
            deadline_ms: None,
            out: Vec::new(),
            changes: Vec::new(),
            status: ConsumerStatus::default(),
        }
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &Syncrepl {
        &self.settings
    }

    /// Returns facts for people.
    #[must_use]
    pub fn status(&self) -> &ConsumerStatus {
        &self.status
    }

    /// Returns the next thing to do.
    pub fn turn(&mut self, now_ms: u64) -> Turn {
        match self.status.phase {
            Phase::Waiting if self.deadline_ms.is_none_or(|until| until <= now_ms) => {
                self.begin(now_ms)
            }
            Phase::Idle => self.begin(now_ms),
            Phase::Waiting => Turn::Wait {
                until_ms: self.deadline_ms.unwrap_or(now_ms),
            },
            Phase::Connecting => Turn::Connect {
                deadline_ms: self.deadline_ms.unwrap_or(now_ms),
            },
            Phase::Binding | Phase::Refreshing | Phase::Persisting => Turn::Receive {
                deadline_ms: self.deadline_ms,
            },
            Phase::GaveUp => Turn::Stop,
        }
    }

    fn begin(&mut self, now_ms: u64) -> Turn {
        let deadline_ms =
            now_ms + timeout_ms(self.settings.link.network_timeout_s, CONNECT_TIMEOUT_MS);
        self.enter(Phase::Connecting, Some(deadline_ms));
        self.status.last_connect_ms = Some(now_ms);
        self.status.next_connect_ms = None;
        Turn::Connect { deadline_ms }
    }

    fn enter(&mut self, phase: Phase, deadline_ms: Option<u64>) {
        self.status.phase = phase;
        self.deadline_ms = deadline_ms;
    }

    /// Returns the bytes to send, and forgets them.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    /// Returns the changes to store, in their order, and forgets them.
    pub fn take_changes(&mut self) -> Vec<ContentChange> {
        std::mem::take(&mut self.changes)
    }

    /// Tells the state that is stored.
    pub fn has_stored(&mut self, state: Vector) {
        self.stored = state;
    }

    /// Begins a session on a connection that is open and, if wanted, encrypted.
    ///
    /// # Errors
    /// [`Trouble`], to be passed to [`failed`](Self::failed).
    pub fn connected(&mut self, now_ms: u64, secrets: BindSecrets) -> Result<(), Trouble> {
        debug_assert_eq!(self.status.phase, Phase::Connecting, "the driver was asked");
        self.reached.clone_from(&self.stored);
        self.changes.clear();
        self.out.clear();
        self.search = None;
        self.next_id = 1;
        let id = self.take_id();
        let bind = Bind::begin(&self.settings.link.bind, secrets, id, &mut self.out)?;
        self.bind = Some(bind);
        let deadline = now_ms + timeout_ms(self.settings.link.timeout_s, BIND_TIMEOUT_MS);
        self.enter(Phase::Binding, Some(deadline));
        Ok(())
    }

    /// Ends a session. The next one begins after a pause, up to a tenth shorter by `jitter`.
    pub fn failed(&mut self, trouble: &Trouble, now_ms: u64, jitter: u8) {
        self.status.trouble = Some(trouble.to_string());
        self.close();
        match self.retry.pause_ms(jitter) {
            Some(pause) => self.wait(now_ms + pause),
            None => self.enter(Phase::GaveUp, None),
        }
    }

    /// Ends a session whose log does not fit the copy. The next one begins at once, and reads the
    /// entries.
    pub fn lost_sync(&mut self, now_ms: u64) {
        self.needs_refresh = true;
        self.status.trouble = Some("the log does not fit the copy: reading entries".to_owned());
        self.close();
        self.wait(now_ms);
    }

    fn close(&mut self) {
        self.bind = None;
        self.search = None;
        self.changes.clear();
    }

    fn wait(&mut self, until_ms: u64) {
        self.status.next_connect_ms = Some(until_ms);
        self.enter(Phase::Waiting, Some(until_ms));
    }

    fn take_id(&mut self) -> MessageId {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    /// Takes a message of the provider.
    ///
    /// # Errors
    /// [`Trouble`], to be passed to [`failed`](Self::failed). The changes before it may be stored.
    pub fn receive(&mut self, message: &ResponseMessage<'_>, now_ms: u64) -> Result<(), Trouble> {
        self.status.last_contact_ms = Some(now_ms);
        if message.id == 0 {
            let text = "the provider ends the connection".to_owned();
            return Err(Trouble::Connection(text));
        }
        if let Some(bind) = &mut self.bind {
            let Response::Bind {
                result,
                server_credentials,
            } = &message.response
            else {
                return Err(Trouble::Protocol("no bind response"));
            };
            let id = self.next_id;
            if bind.respond(result, *server_credentials, id, &mut self.out)? {
                self.bind = None;
                return self.begin_search();
            }
            self.next_id += 1;
            return Ok(());
        }
        let Some(search) = &mut self.search else {
            return Err(Trouble::Protocol("an unexpected message"));
        };
        if message.id != search.id {
            return Ok(());
        }
        search.has_answered = true;
        match &message.response {
            Response::SearchEntry(entry) => self.entry(entry, &message.controls),
            Response::SearchReference(_) => self.reference(&message.controls),
            Response::Intermediate { name, value } => {
                if *name != Some(oid::SYNC_INFO.as_bytes()) {
                    return Ok(());
                }
                let info = SyncInfo::decode(value.unwrap_or_default());
                let info = info.map_err(|_| Trouble::Protocol("a malformed Sync Info"))?;
                self.info(&info)
            }
            Response::SearchDone(result) => self.done(result, &message.controls, now_ms),
            _ => Err(Trouble::Protocol("an unexpected response")),
        }
    }

    /// Begins the search that the copy needs next.
    fn begin_search(&mut self) -> Result<(), Trouble> {
        let has_log = self.settings.data == SyncData::AccessLog;
        let source = match has_log && !self.needs_refresh && !self.needs_everything {
            true => Source::Log,
            false => Source::Entries,
        };
        let persists = self.settings.persist && (source == Source::Log || !has_log);
        let mode = match persists {
            true => SyncMode::RefreshAndPersist,
            false => SyncMode::RefreshOnly,
        };
        let replaces = self.needs_everything && source == Source::Entries;
        let nothing = Vector::default();
        let state = if replaces { &nothing } else { &self.reached };
        let cookie = cookie::cookie(self.settings.rid, self.server, state);
        let search = Search {
            id: self.next_id,
            source,
            mode,
            is_whole: state.is_empty(),
            replaces,
            has_answered: false,
            is_persisting: false,
        };
        search::write(
            &mut self.out,
            search.id,
            &self.settings,
            (source, mode),
            &cookie,
        )?;
        self.next_id += 1;
        self.status.cookie_sent = String::from_utf8_lossy(&cookie).into_owned();
        self.status.refresh_entries = 0;
        self.search = Some(search);
        if source == Source::Entries {
            self.changes.push(ContentChange::BeginRefresh);
        }
        self.enter(Phase::Refreshing, None);
        Ok(())
    }

    fn source(&self) -> Source {
        let search = self.search.as_ref();
        search.map_or(Source::Entries, |search| search.source)
    }

    fn entry(&mut self, entry: &SearchEntry<'_>, controls: &Controls<'_>) -> Result<(), Trouble> {
        let value = value_of(controls, oid::SYNC_STATE);
        let value = value.ok_or(Trouble::Protocol("an entry without its state"))?;
        let state = SyncState::decode(value);
        let state = state.map_err(|_| Trouble::Protocol("a malformed Sync State control"))?;
        let uuid = state.entry_uuid;
        if self.source() == Source::Log {
            return self.log_entry(entry, &state);
        }
        match state.state {
            EntryState::Present => self.changes.push(ContentChange::Present(vec![uuid])),
            EntryState::Delete => {
                let reached = cookie::state(state.cookie);
                let csns: Vec<&str> = reached.csns().collect();
                // A cookie with one number has that of the deletion. A peer has delcsn for it.
                let one = match csns.as_slice() {
                    [one] if !cookie::is_of_peer(state.cookie) => Some((*one).to_owned()),
                    _ => None,
                };
                let csn = cookie::deletion(state.cookie).or(one);
                let ends = cookie::ended(state.cookie);
                self.changes.push(ContentChange::Delete { uuid, csn, ends });
            }
            EntryState::Add | EntryState::Modify => {
                let entry = ContentEntry::new(uuid, entry);
                let mut entry = entry.ok_or(Trouble::Protocol("a name that is no text"))?;
                entry.place = cookie::place(state.cookie);
                entry.stamps = cookie::stamps(state.cookie);
                self.changes.push(ContentChange::Entry(entry));
                self.status.refresh_entries += 1;
            }
        }
        self.reach(state.cookie, false)
    }

    fn log_entry(&mut self, entry: &SearchEntry<'_>, state: &SyncState<'_>) -> Result<(), Trouble> {
        if state.state != EntryState::Add {
            return Ok(());
        }
        if let Some(operation) = log_entry::operation(entry)?
            && !self.reached.covers(&operation.csn)
        {
            self.reached.advance(&operation.csn);
            let csns = vec![operation.csn.clone()];
            self.changes.push(ContentChange::Operation(operation));
            let replaces = false;
            self.changes.push(ContentChange::Reached { csns, replaces });
        }
        self.reach(state.cookie, false)
    }

    /// Notes that a referral object is present.
    fn reference(&mut self, controls: &Controls<'_>) -> Result<(), Trouble> {
        let Some(value) = value_of(controls, oid::SYNC_STATE) else {
            return Ok(());
        };
        let state = SyncState::decode(value);
        let state = state.map_err(|_| Trouble::Protocol("a malformed Sync State control"))?;
        if self.source() == Source::Entries && state.state != EntryState::Delete {
            let present = ContentChange::Present(vec![state.entry_uuid]);
            self.changes.push(present);
        }
        self.reach(state.cookie, false)
    }

    fn info(&mut self, info: &SyncInfo<'_>) -> Result<(), Trouble> {
        match info {
            SyncInfo::NewCookie(cookie) => self.reach(Some(cookie), false),
            SyncInfo::RefreshDelete(end) => self.phase_ends(*end, false),
            SyncInfo::RefreshPresent(end) => self.phase_ends(*end, true),
            SyncInfo::SyncIdSet(set) => {
                self.id_set(set);
                Ok(())
            }
        }
    }

    /// Takes a set of UUIDs. Its cookie moves nothing: the changes before the deletion may follow.
    fn id_set(&mut self, set: &SyncIdSet<'_>) {
        if self.source() == Source::Log {
            return;
        }
        if !set.refresh_deletes {
            let present = ContentChange::Present(set.uuids.clone());
            self.changes.push(present);
            return;
        }
        let csn = cookie::deletion(set.cookie);
        let deleted = set.uuids.iter().map(|uuid| ContentChange::Delete {
            uuid: *uuid,
            csn: csn.clone(),
            ends: None,
        });
        self.changes.extend(deleted);
    }

    fn phase_ends(&mut self, end: PhaseEnd<'_>, names_present: bool) -> Result<(), Trouble> {
        let Some(search) = &self.search else {
            return Ok(());
        };
        if search.is_persisting {
            return Err(Trouble::Protocol("a second end of the refresh"));
        }
        let replaces = search.replaces;
        let of_entries = search.source == Source::Entries;
        let drops = names_present || (end.refresh_done && self.drops_unnamed(search, end.cookie));
        if of_entries && drops {
            self.drop_unnamed(end.cookie);
        }
        if end.refresh_done {
            self.end_refresh(of_entries);
            if let Some(search) = &mut self.search {
                search.is_persisting = search.mode == SyncMode::RefreshAndPersist;
            }
            self.enter(Phase::Persisting, None);
        }
        self.reach(end.cookie, replaces)
    }

    /// Returns true if deletions may be missing at the end of a refresh that tells them.
    fn drops_unnamed(&self, search: &Search, cookie: Option<&[u8]>) -> bool {
        // A provider that has lost changes does not know their deletions either.
        let tells_all = self.server.is_some() && cookie::is_of_peer(cookie) && !search.replaces;
        search.is_whole && !tells_all
    }

    /// Drops what the provider has not named; its state is that of the cookie, or ours.
    fn drop_unnamed(&mut self, cookie: Option<&[u8]>) {
        let mut state = cookie::state(cookie);
        if state.is_empty() {
            state.clone_from(&self.reached);
        }
        let state = state.csns().map(str::to_owned).collect();
        self.changes.push(ContentChange::DropUnnamed { state });
    }

    fn end_refresh(&mut self, of_entries: bool) {
        if of_entries {
            self.changes.push(ContentChange::EndRefresh);
            self.needs_refresh = false;
            self.needs_everything = false;
        }
        self.has_begun_anew = false;
        self.retry.succeeded();
        self.status.trouble = None;
    }

    /// Moves the state to that of a cookie.
    fn reach(&mut self, cookie: Option<&[u8]>, replaces: bool) -> Result<(), Trouble> {
        let Some(bytes) = cookie else {
            return Ok(());
        };
        let other = cookie::server(cookie);
        if let (Some(own), Some(other)) = (self.server, other)
            && own == other
            && own != 0
        {
            return Err(Trouble::SameServer(own));
        }
        let state = cookie::state(cookie);
        if state.is_empty() {
            return Ok(());
        }
        self.status.cookie_received = String::from_utf8_lossy(bytes).into_owned();
        match replaces {
            true => self.reached.replace(&state),
            false => self.reached.merge(&state),
        }
        let csns = state.csns().map(str::to_owned).collect();
        self.changes.push(ContentChange::Reached { csns, replaces });
        Ok(())
    }

    fn done(
        &mut self,
        result: &LdapResult,
        controls: &Controls<'_>,
        now_ms: u64,
    ) -> Result<(), Trouble> {
        let Some(search) = self.search.take() else {
            return Ok(());
        };
        let of_entries = search.source == Source::Entries;
        if !result.is_success() {
            return self.refused(&search, result);
        }
        if search.mode == SyncMode::RefreshAndPersist {
            // The provider has ended the persist stage: there is more to ask for.
            return match search.has_answered && search.is_persisting {
                true => self.begin_search(),
                false => Err(Trouble::Protocol("the refresh has no end")),
            };
        }
        let value = value_of(controls, oid::SYNC_DONE);
        let value = value.ok_or(Trouble::Protocol("no Sync Done control"))?;
        let done = SyncDone::decode(value);
        let done = done.map_err(|_| Trouble::Protocol("a malformed Sync Done control"))?;
        if of_entries && (!done.refresh_deletes || self.drops_unnamed(&search, done.cookie)) {
            self.drop_unnamed(done.cookie);
        }
        self.end_refresh(of_entries);
        self.reach(done.cookie, search.replaces)?;
        if of_entries && self.settings.data == SyncData::AccessLog {
            return self.begin_search();
        }
        let id = self.take_id();
        encode::request(&mut self.out, id, &Request::Unbind, &[]);
        self.wait(now_ms + self.settings.interval_s.max(1) * 1000);
        Ok(())
    }

    /// Takes the refusal of a search. Asks a provider that cannot continue for everything, once.
    fn refused(&mut self, search: &Search, result: &LdapResult) -> Result<(), Trouble> {
        let cannot_continue = result.code.number() == REFRESH_REQUIRED;
        if search.source == Source::Log && cannot_continue {
            self.needs_refresh = true;
            return self.begin_search();
        }
        // One of several providers has only dropped its log, or gets back from us what it has lost.
        // The state here is that of all of them, so none replaces it.
        if self.server.is_some() {
            if cannot_continue && !std::mem::replace(&mut self.has_begun_anew, true) {
                return self.begin_search();
            }
            return Err(Trouble::Search(result.clone()));
        }
        // A provider that has lost changes says that we are ahead of it.
        let is_behind = result.code == ResultCode::UnwillingToPerform
            && result.diagnostic.contains("newer than provider");
        if (cannot_continue || is_behind) && !search.is_whole {
            self.needs_everything = true;
            return self.begin_search();
        }
        Err(Trouble::Search(result.clone()))
    }
}

fn value_of<'a>(controls: &Controls<'a>, oid: &str) -> Option<&'a [u8]> {
    let control: Control<'a> = controls.find(oid)?;
    control.value
}

fn timeout_ms(seconds: u32, default_ms: u64) -> u64 {
    match seconds {
        0 => default_ms,
        seconds => u64::from(seconds) * 1000,
    }
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
