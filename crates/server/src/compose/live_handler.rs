//! [`Live`] as a handler: messages to operations of the newest directory, results to bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use crossbeam_channel::RecvTimeoutError;
use fulgurite_directory::{
    BegunRecord, BindOutcome, BindStep, ChangeListener, Connection, ExtendedReply, ExtendedStep,
    ForwardedUpdate, PasswordChange, PasswordCheck, Progress, Quantum, SearchTask, Session,
    Snapshots, UpdateStep, WriteRequest,
};
use fulgurite_ldap::{
    BindRequest, CompareRequest, Controls, ExtendedRequest, LdapResult, Message, MessageId,
    Operation, ResultCode, SearchRequest, encode,
};

use super::live::Live;
use crate::admin::clock::{ClockWatch, ahead_s};
use crate::admin::{indexing, purging, recording, room};
use crate::backup::BackupSource;
use crate::backup::schedule;
use crate::cluster::gate_alone;
use crate::replication::runner;
use crate::session::handler::{Handler, ReadGate, RunningSearch, StateListener, StateWish};
use crate::statistics::{SearchWork, seconds_now};
use crate::tls::certificate_watch::CertificateWatch;

/// Passwords for the hashing pool.
pub enum PasswordWork {
    /// Verifies the password of a bind.
    Bind(Box<PasswordCheck>),
    /// Verifies and hashes the passwords of a password modify.
    Change(Box<PasswordChange>),
}

/// The result of the hashing pool.
pub enum PasswordResult {
    /// The end of a bind.
    Bind(BindOutcome),
    /// The update of a password modify, or the reason why there is none.
    Change(Result<WriteRequest, LdapResult>),
}

impl Handler for Live<'_> {
    type Identity = Session;
    type Search<'h>
        = SearchTask<'h>
    where
        Self: 'h;
    type Cache<'h>
        = Snapshots<'h>
    where
        Self: 'h;
    type Update = WriteRequest;
    type PasswordCheck = PasswordWork;
    type PasswordResult = PasswordResult;

    fn connected(&self, connection: Arc<Connection>) -> Session {
        Session::on(connection)
    }

    fn secured(&self, identity: &mut Session, connection: Arc<Connection>) {
        identity.set_connection(connection);
    }

    fn is_binding(&self, identity: &Session) -> bool {
        identity.is_binding()
    }

    fn start_tls(
        &self,
        identity: &mut Session,
        request: &ExtendedRequest<'_>,
        controls: &Controls<'_>,
    ) -> Result<(), LdapResult> {
        self.current().start_tls(identity, request, controls)
    }

    fn is_authenticated(&self, identity: &Session) -> bool {
        identity.is_authenticated()
    }

    fn name(&self, identity: &Session) -> String {
        identity.name().to_owned()
    }

    fn bind_failure(&self, identity: &Session) -> Option<&'static str> {
        identity.bind_failure()
    }

    fn claimed_name<'a>(&self, identity: &'a Session) -> Option<&'a str> {
        identity.claimed_name()
    }

    fn identity_key(&self, identity: &Session) -> String {
        let name = identity.identity().name();
        name.map_or_else(String::new, |name| name.normal().to_owned())
    }

    fn reload(&self) {
        match self.renew() {
            Ok(()) => tracing::info!("the configuration has been read again"),
            Err(reason) => {
                tracing::error!("the configuration stays unchanged: {reason}");
            }
        }
    }

    fn dump(&self) {
        for line in self.monitor_lines() {
            tracing::info!("{line}");
        }
    }

    fn background(&self, pause: &dyn Fn(Duration) -> bool) {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let consumers = || runner::run(self, &self.replication, &stop);
            let started = std::thread::Builder::new()
                .name("replication".to_owned())
                .spawn_scoped(scope, consumers);
            if let Err(error) = started {
                tracing::error!("no database is copied: no thread: {error}");
            }
            let (ends, ended) = crossbeam_channel::bounded::<()>(0);
            let sleep = move |time| ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            let watch = move || {
                let mut certificate = CertificateWatch::default();
                let end_s = || self.certificate_end_s();
                let mut clock = ClockWatch::default();
                let mut also = |now| {
                    certificate.look(end_s, seconds_now(), now);
                    if clock.look(SystemTime::now(), now) {
                        for database in self.health.databases().iter() {
                            let ahead_s = ahead_s(&database.store, seconds_now());
                            clock.tell(&database.suffix, ahead_s);
                        }
                    }
                };
                room::run(&self.health, &mut also, &sleep);
            };
            let started = std::thread::Builder::new()
                .name("room".to_owned())
                .spawn_scoped(scope, watch);
            if let Err(error) = started {
                tracing::error!("nobody watches the room of the databases: no thread: {error}");
            }
            let (backups_end, backups_ended) = crossbeam_channel::bounded::<()>(0);
            let sleep =
                move |time| backups_ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            let is_stopping = &stop;
            let backups = move || self.make_backups(&sleep, is_stopping);
            let started = std::thread::Builder::new()
                .name("backups".to_owned())
                .spawn_scoped(scope, backups);
            if let Err(error) = started {
                tracing::error!("no backups are made: no thread: {error}");
            }
            let (purges_end, purges_ended) = crossbeam_channel::bounded::<()>(0);
            let sleep =
                move |time| purges_ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            let purges = move || purging::run(&|| self.current().log_purges(), &sleep);
            let started = std::thread::Builder::new()
                .name("purges".to_owned())
                .spawn_scoped(scope, purges);
            if let Err(error) = started {
                tracing::error!("idle logs of changes are not purged: no thread: {error}");
            }
            let (records_end, records_ended) = crossbeam_channel::bounded::<()>(0);
            let sleep =
                move |time| records_ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            let flush = move || recording::run(&|| self.current().flush_records(), &sleep);
            let started = std::thread::Builder::new()
                .name("records".to_owned())
                .spawn_scoped(scope, flush);
            if let Err(error) = started {
                tracing::error!("records of operations stay in memory longer: no thread: {error}");
            }
            self.health.serves();
            indexing::run(&|| self.current().shared_stores(), pause);
            self.health.stops();
            stop.store(true, Ordering::Relaxed);
            drop(ends);
            drop(backups_end);
            drop(purges_end);
            drop(records_end);
        });
    }

    fn on_change(&self, listener: ChangeListener) {
        self.current().on_change(listener);
    }

    fn begin_record(&self, identity: &Session, message: &Message<'_>) -> Option<Box<BegunRecord>> {
        self.current().begin_record(identity, message)
    }

    fn end_record(&self, record: BegunRecord, responses: &[u8]) {
        self.current().end_record(record, responses);
    }

    fn record_unanswered(&self, identity: &Session, message: &Message<'_>) {
        self.current().record_unanswered(identity, message);
    }

    // A server becomes a node before its first connection, or never.
    fn gates_reads(&self) -> bool {
        self.health.node().is_some()
    }

    fn gate_read(&self, message: &Message<'_>) -> ReadGate {
        match self.health.node() {
            None => gate_alone(message),
            Some(node) => node.gate(self.current(), message),
        }
    }

    fn await_state(&self, wish: StateWish, then: StateListener) {
        match self.health.node() {
            None => then(Ok(())),
            Some(node) => node.await_state(wish, then),
        }
    }

    fn tell_position(&self, out: &mut Vec<u8>, mark: usize) {
        if let Some(node) = self.health.node() {
            node.tell_position(self.current(), out, mark);
        }
    }

    fn begin_search<'h>(
        &'h self,
        cache: &mut Snapshots<'h>,
        identity: &Session,
        id: MessageId,
        request: &SearchRequest<'_>,
        controls: &Controls<'_>,
    ) -> SearchTask<'h> {
        let directory = self.current();
        directory.begin_search_on(cache, identity, id, request, controls)
    }

    fn compare<'h>(
        &'h self,
        cache: &mut Snapshots<'h>,
        identity: &Session,
        id: MessageId,
        request: &CompareRequest<'_>,
        controls: &Controls<'_>,
        out: &mut Vec<u8>,
    ) {
        let directory = self.current();
        let result = directory.compare_on(cache, identity, request, controls);
        encode::result(out, id, Operation::Compare, &result, &[]);
    }

    fn extended(
        &self,
        identity: &mut Session,
        id: MessageId,
        request: &ExtendedRequest<'_>,
        controls: &Controls<'_>,
    ) -> ExtendedStep<PasswordWork> {
        match self.current().extended(identity, id, request, controls) {
            ExtendedStep::Done(reply) => ExtendedStep::Done(reply),
            ExtendedStep::Passwords(change) => {
                ExtendedStep::Passwords(PasswordWork::Change(change))
            }
            ExtendedStep::Update(update) => ExtendedStep::Update(update),
            ExtendedStep::Cancel(target) => ExtendedStep::Cancel(target),
        }
    }

    fn resume_extended(
        &self,
        _: &mut Session,
        checked: PasswordResult,
    ) -> ExtendedStep<PasswordWork> {
        let result = match checked {
            PasswordResult::Change(Ok(update)) => return ExtendedStep::Update(update),
            PasswordResult::Change(Err(result)) => result,
            PasswordResult::Bind(_) => LdapResult::new(ResultCode::Other),
        };
        ExtendedStep::Done(ExtendedReply {
            result,
            value: None,
        })
    }

    fn begin_bind<'h>(
        &'h self,
        cache: &mut Snapshots<'h>,
        identity: &mut Session,
        id: MessageId,
        request: &BindRequest<'_>,
        controls: &Controls<'_>,
        out: &mut Vec<u8>,
    ) -> Option<PasswordWork> {
        if identity.abort_transaction() {
            encode::notice_of_aborted_transaction(out, ResultCode::Canceled, b"");
        }
        let directory = self.current();
        match directory.begin_bind_on(cache, identity, request, controls) {
            BindStep::Done(outcome) => {
                outcome.finish(identity, id, out);
                None
            }
            BindStep::Check(check) => Some(PasswordWork::Bind(Box::new(check))),
        }
    }

    fn check_password(&self, check: PasswordWork) -> PasswordResult {
        match check {
            PasswordWork::Bind(check) => PasswordResult::Bind(check.run(self.current())),
            PasswordWork::Change(change) => PasswordResult::Change(change.run()),
        }
    }

    fn before_answer(&self, checked: &mut PasswordResult) -> Option<WriteRequest> {
        match checked {
            PasswordResult::Bind(outcome) => self.current().forwarded_bind(outcome),
            PasswordResult::Change(_) => None,
        }
    }

    fn wait_before_answer(&self, checked: &mut PasswordResult) {
        if let PasswordResult::Bind(outcome) = checked {
            outcome.wait_for_provider();
        }
    }

    fn finish_bind(
        &self,
        identity: &mut Session,
        id: MessageId,
        checked: PasswordResult,
        out: &mut Vec<u8>,
    ) {
        match checked {
            PasswordResult::Bind(outcome) => outcome.finish(identity, id, out),
            PasswordResult::Change(_) => {
                let result = LdapResult::new(ResultCode::Other);
                encode::bind_result(out, id, &result, None, &[]);
            }
        }
    }

    fn after_bind(&self, identity: &mut Session) -> Option<WriteRequest> {
        self.current().bind_update(identity)
    }

    fn update(
        &self,
        identity: &mut Session,
        message: &Message<'_>,
        out: &mut Vec<u8>,
    ) -> Option<WriteRequest> {
        let result = match self.current().begin_update(identity, message) {
            UpdateStep::Write(request) => return Some(request),
            UpdateStep::Answered(result) => result,
            UpdateStep::Aborted(result) => {
                encode::notice_of_aborted_transaction(out, result.code, b"");
                result
            }
        };
        encode::result(out, message.id, message.request.operation(), &result, &[]);
        None
    }

    fn writer_of(&self, update: &WriteRequest) -> usize {
        self.current().writer_of(update)
    }

    fn apply(&self, updates: Vec<WriteRequest>) -> Vec<Vec<u8>> {
        let mut responses = Vec::with_capacity(updates.len());
        let mut rest = updates.as_slice();
        while !rest.is_empty() {
            let forwarded: Vec<_> = rest.iter().map_while(WriteRequest::forwarded).collect();
            if !forwarded.is_empty() {
                responses.extend(self.forward(&forwarded));
                rest = rest.get(forwarded.len()..).unwrap_or_default();
                continue;
            }
            // Updates after one of the configuration see the next generation.
            let (directory, definitions) = self.current_for_updates();
            let mut of_entries = rest.iter();
            let of_entries = of_entries.position(|update| {
                directory.is_tree_update(update) || update.forwarded().is_some()
            });
            let (of_entries, others) = rest.split_at(of_entries.unwrap_or(rest.len()));
            // A cluster takes its time, and does the updates on its own thread.
            let definitions = (!directory.has_orders()).then_some(definitions);
            let replies = directory.apply(of_entries);
            drop(definitions);
            let records = replies.iter().filter_map(|reply| reply.audit.as_ref());
            self.audit_files.write(records);
            responses.extend(replies.into_iter().map(|reply| reply.bytes));
            rest = others;
            let of_tree = others.split_first();
            let of_tree = of_tree.filter(|(update, _)| update.forwarded().is_none());
            if let Some((update, others)) = of_tree {
                responses.push(self.change_configuration(update).bytes);
                rest = others;
            }
        }
        responses
    }

    fn apply_at_once(&self, updates: &[WriteRequest]) -> Option<Vec<Vec<u8>>> {
        let (directory, _definitions) = self.current_for_updates_at_once()?;
        if updates
            .iter()
            .any(|update| directory.is_tree_update(update) || update.forwarded().is_some())
        {
            return None;
        }
        let replies = directory.apply_at_once(updates)?;
        Some(replies.into_iter().map(|reply| reply.bytes).collect())
    }
}

impl Live<'_> {
    /// Makes the backups of the settings until `stop` is set and `sleep` returns false.
    fn make_backups(&self, sleep: &dyn Fn(Duration) -> bool, stop: &AtomicBool) {
        let sources = || {
            let databases = self.health.databases();
            let sources = databases.iter().map(|database| BackupSource {
                suffix: database.suffix.clone(),
                store: Arc::clone(&database.store),
            });
            sources.collect()
        };
        let around = schedule::Surroundings {
            sources: &sources,
            now_s: &seconds_now,
            pause: sleep,
            is_stopping: &|| stop.load(Ordering::Relaxed),
        };
        schedule::run(&self.backups, &around);
    }

    /// Lets other servers make updates. Those of one copy go out together.
    fn forward(&self, updates: &[&ForwardedUpdate]) -> Vec<Vec<u8>> {
        let directory = self.current();
        let of_one_copy = updates.chunk_by(|one, next| one.store() == next.store());
        let forward = |updates: &[&ForwardedUpdate]| {
            let copy = updates.first().map(|update| update.store());
            match copy.and_then(|store| directory.database_at(store)) {
                Some(copy) => self.forwarders.forward(copy, updates),
                None => updates.iter().map(|update| update.referred()).collect(),
            }
        };
        of_one_copy.flat_map(forward).collect()
    }
}

impl<'h> RunningSearch<Snapshots<'h>> for SearchTask<'h> {
    fn advance(&mut self, out: &mut Vec<u8>, room: usize, work: &mut usize) -> Progress {
        let quantum = Quantum {
            bytes_max: room,
            candidates_max: *work,
        };
        let progress = self.advance(out, quantum);
        *work = work.saturating_sub(self.worked());
        if progress == Progress::Done {
            for index in self.missing_indexes() {
                let (examined, entries) = (self.examined(), self.entries());
                tracing::info!(
                    "missing index {index}: a search looked at {examined} entries to find {entries}"
                );
            }
        }
        progress
    }

    fn work(&self) -> SearchWork {
        SearchWork {
            entries: self.entries().into(),
            references: self.references().into(),
            candidates: self.examined(),
        }
    }

    fn about(&self) -> String {
        self.about()
    }

    fn code(&self) -> Option<ResultCode> {
        Some(self.code())
    }

    fn release(self, cache: &mut Snapshots<'h>) {
        self.leave(cache);
    }

    fn park(&mut self) {
        self.park();
    }
}
