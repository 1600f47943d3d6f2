//! A handler without a directory: a search returns as many entries as its base says.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fulgurite_directory::Connection;
use fulgurite_ldap::{
    Authentication, BindRequest, CancelRequest, CompareRequest, Controls, ExtendedRequest,
    LdapResult, Message, MessageId, Operation, ResultCode, SearchRequest, encode, oid,
};
use fulgurite_server::{ExtendedReply, ExtendedStep, Handler, Progress, ReadGate, RunningSearch};

#[derive(Default)]
pub(crate) struct Stub {
    /// Searches that have begun and are not dropped.
    pub(crate) searches: AtomicUsize,
    /// How often a search was parked.
    pub(crate) parked: AtomicUsize,
    /// Total work of all searches.
    pub(crate) worked: AtomicUsize,
    /// Batches that writers applied.
    pub(crate) batches: AtomicUsize,
    /// The answer to the question if a read may begin, if reads are not free.
    pub(crate) gate: Mutex<Option<ReadGate>>,
    /// True if that question is asked of all reads.
    pub(crate) gates_reads: bool,
    /// Results that have told the position of a cluster.
    pub(crate) told: AtomicUsize,
    /// Maximum of updates that a worker may apply at once.
    pub(crate) at_once_max: usize,
    /// Updates that workers applied.
    pub(crate) at_once: AtomicUsize,
    /// Total work of searches at the arrival of the update that waits.
    pub(crate) came_at: Mutex<Option<usize>>,
    /// Maximum work of searches between the arrival of an update and its application by a worker.
    pub(crate) waited_max: AtomicUsize,
    /// The time that a writer takes for a batch.
    pub(crate) sync: Duration,
    /// The number of writers besides the first one. The id of an update selects one.
    pub(crate) more_writers: u32,
    /// While a test holds this lock, the first writer applies nothing.
    pub(crate) first_writer: Mutex<()>,
    /// Passwords whose verification has begun.
    pub(crate) checks: AtomicUsize,
    /// While a test holds this lock, no password is verified.
    pub(crate) verifying: Mutex<()>,
    /// Facts about connections at the moment when TLS began to protect them.
    pub(crate) secured: Mutex<Vec<Arc<Connection>>>,
}

pub(crate) struct StubSearch<'h> {
    stub: &'h Stub,
    id: MessageId,
    left: u64,
    work: usize,
    value: Vec<u8>,
}

/// Name of a bind, and true if the password is right.
pub(crate) struct Check {
    pub(crate) id: MessageId,
    pub(crate) name: String,
    pub(crate) right: bool,
}

impl Handler for Stub {
    type Identity = String;
    type Search<'h> = StubSearch<'h>;
    type Cache<'h> = ();
    type Update = MessageId;
    type PasswordCheck = Check;
    type PasswordResult = Check;

    fn secured(&self, _: &mut String, connection: Arc<Connection>) {
        self.secured.lock().unwrap().push(connection);
    }

    fn start_tls(
        &self,
        _: &mut String,
        _: &ExtendedRequest<'_>,
        _: &Controls<'_>,
    ) -> Result<(), LdapResult> {
        Ok(())
    }

    fn name(&self, identity: &String) -> String {
        identity.clone()
    }

    fn is_authenticated(&self, identity: &String) -> bool {
        !identity.is_empty()
    }

    fn gates_reads(&self) -> bool {
        self.gates_reads
    }

    fn gate_read(&self, _: &Message<'_>) -> ReadGate {
        let gate = self.gate.lock().unwrap();
        gate.clone().unwrap_or(ReadGate::Open)
    }

    fn tell_position(&self, out: &mut Vec<u8>, mark: usize) {
        assert!(out.len() > mark, "there is a result");
        self.told.fetch_add(1, Ordering::Relaxed);
    }

    /// The base is `entries/bytes/work`. Each quantum writes one entry of that size and does that
    /// work.
    fn begin_search<'h>(
        &'h self,
        (): &mut (),
        _: &String,
        id: MessageId,
        request: &SearchRequest<'_>,
        _: &Controls<'_>,
    ) -> StubSearch<'h> {
        let base = std::str::from_utf8(request.base).unwrap();
        let mut numbers = base.split('/').map(|number| number.parse().unwrap());
        let mut number = |default: usize| numbers.next().unwrap_or(default);
        self.searches.fetch_add(1, Ordering::Relaxed);
        StubSearch {
            stub: self,
            id,
            left: number(0) as u64,
            value: vec![b'x'; number(1)],
            work: number(0),
        }
    }

    fn compare(
        &self,
        (): &mut (),
        _: &String,
        id: MessageId,
        _: &CompareRequest<'_>,
        _: &Controls<'_>,
        out: &mut Vec<u8>,
    ) {
        encode::result(out, id, Operation::Compare, &LdapResult::success(), &[]);
    }

    /// Answers "Who am I" and cancel. A password modify goes to the hashing pool and becomes an
    /// add.
    fn extended(
        &self,
        identity: &mut String,
        id: MessageId,
        request: &ExtendedRequest<'_>,
        _: &Controls<'_>,
    ) -> ExtendedStep<Check, MessageId> {
        if request.oid == oid::CANCEL.as_bytes() {
            let request = CancelRequest::decode(request.value.unwrap()).unwrap();
            return ExtendedStep::Cancel(request.id);
        }
        if request.oid == oid::PASSWORD_MODIFY.as_bytes() {
            let name = identity.clone();
            return ExtendedStep::Passwords(Check {
                id,
                name,
                right: true,
            });
        }
        ExtendedStep::Done(ExtendedReply {
            result: LdapResult::success(),
            value: Some(identity.clone().into_bytes()),
        })
    }

    fn resume_extended(&self, _: &mut String, verdict: Check) -> ExtendedStep<Check, MessageId> {
        ExtendedStep::Update(verdict.id)
    }

    fn begin_bind(
        &self,
        (): &mut (),
        identity: &mut String,
        id: MessageId,
        request: &BindRequest<'_>,
        _: &Controls<'_>,
        out: &mut Vec<u8>,
    ) -> Option<Check> {
        identity.clear();
        let name = String::from_utf8(request.name.to_vec()).unwrap();
        let right = request.authentication == Authentication::Simple(b"right");
        let slow = name.starts_with("slow");
        let check = Check { id, name, right };
        if slow {
            return Some(check);
        }
        self.finish_bind(identity, id, check, out);
        None
    }

    fn check_password(&self, check: Check) -> Check {
        self.checks.fetch_add(1, Ordering::Relaxed);
        drop(self.verifying.lock());
        check
    }

    fn finish_bind(&self, identity: &mut String, id: MessageId, verdict: Check, out: &mut Vec<u8>) {
        let code = if verdict.right {
            *identity = verdict.name;
            ResultCode::Success
        } else {
            ResultCode::InvalidCredentials
        };
        encode::bind_result(out, id, &LdapResult::new(code), None, &[]);
    }

    fn update(&self, _: &mut String, message: &Message<'_>, _: &mut Vec<u8>) -> Option<MessageId> {
        let mut came_at = self.came_at.lock().unwrap();
        came_at.get_or_insert(self.worked.load(Ordering::Relaxed));
        Some(message.id)
    }

    fn apply_at_once(&self, updates: &[MessageId]) -> Option<Vec<Vec<u8>>> {
        let writer = self.writer_of(&updates[0]);
        assert!(
            updates
                .iter()
                .all(|update| self.writer_of(update) == writer)
        );
        if updates.len() > self.at_once_max {
            return None;
        }
        let worked = self.worked.load(Ordering::Relaxed);
        if let Some(came_at) = self.came_at.lock().unwrap().take() {
            self.waited_max
                .fetch_max(worked - came_at, Ordering::Relaxed);
        }
        self.at_once.fetch_add(updates.len(), Ordering::Relaxed);
        Some(updates.iter().copied().map(added).collect())
    }

    fn writer_of(&self, update: &MessageId) -> usize {
        (update % (self.more_writers + 1)) as usize
    }

    fn apply(&self, updates: Vec<MessageId>) -> Vec<Vec<u8>> {
        let writer = self.writer_of(&updates[0]);
        assert!(
            updates
                .iter()
                .all(|update| self.writer_of(update) == writer)
        );
        if writer == 0 {
            drop(self.first_writer.lock());
        }
        self.batches.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(self.sync);
        updates.into_iter().map(added).collect()
    }
}

/// The response to an add.
pub(crate) fn added(id: MessageId) -> Vec<u8> {
    let mut out = Vec::new();
    encode::result(&mut out, id, Operation::Add, &LdapResult::success(), &[]);
    out
}

impl RunningSearch<()> for StubSearch<'_> {
    fn advance(&mut self, out: &mut Vec<u8>, _: usize, work: &mut usize) -> Progress {
        self.stub
            .worked
            .fetch_add(self.work.min(*work), Ordering::Relaxed);
        *work = work.saturating_sub(self.work);
        if self.left == 0 {
            encode::result(out, self.id, Operation::Search, &LdapResult::success(), &[]);
            return Progress::Done;
        }
        self.left -= 1;
        let mut entry = encode::search_entry(out, self.id, b"cn=entry");
        entry.attribute(b"cn");
        entry.value(&self.value);
        entry.finish(&[]);
        Progress::More
    }

    fn release(self, (): &mut ()) {}

    fn park(&mut self) {
        self.stub.parked.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for StubSearch<'_> {
    fn drop(&mut self) {
        self.stub.searches.fetch_sub(1, Ordering::Relaxed);
    }
}
