//! The directory as a handler: messages to its operations, results to bytes.

use std::sync::Arc;
use std::time::Duration;

use fulgurite_directory::{
    BindOutcome, BindStep as DirectoryStep, Connection, Directory,
    ExtendedStep as DirectoryExtended, PasswordChange, PasswordCheck,
    Progress as DirectoryProgress, Quantum, SearchTask, Session as Identity, Snapshots, UpdateStep,
    WriteRequest,
};
use fulgurite_ldap::{
    BindRequest, CompareRequest, Controls, ExtendedRequest, LdapResult, Message, MessageId,
    Operation, ResultCode, SearchRequest, encode,
};

use crate::handler::{BindStep, ExtendedStep, Handler, Progress, RunningSearch};
use crate::indexing;

/// Passwords to look at, for the request with this id.
pub enum Check {
    /// To be verified for a bind.
    Bind(MessageId, Box<PasswordCheck>),
    /// To be verified and hashed for a password modify.
    Change(MessageId, Box<PasswordChange>),
}

/// What has been found, for the request with this id.
pub enum Verdict {
    /// The end of a bind.
    Bind(MessageId, BindOutcome),
    /// An update, or why there is none.
    Change(MessageId, Result<WriteRequest, LdapResult>),
}

impl Handler for Directory {
    type Identity = Identity;
    type Search<'h> = SearchTask<'h>;
    type Kept<'h> = Snapshots<'h>;
    type Update = WriteRequest;
    type PasswordCheck = Check;
    type PasswordVerdict = Verdict;

    fn connected(&self, connection: Arc<Connection>) -> Identity {
        Identity::on(connection)
    }

    fn secured(&self, identity: &mut Identity, connection: Arc<Connection>) {
        identity.set_connection(connection);
    }

    fn is_binding(&self, identity: &Identity) -> bool {
        identity.is_binding()
    }

    fn start_tls(
        &self,
        identity: &mut Identity,
        request: &ExtendedRequest<'_>,
        controls: &Controls<'_>,
    ) -> Result<(), LdapResult> {
        self.start_tls(identity, request, controls)
    }

    fn is_authenticated(&self, identity: &Identity) -> bool {
        identity.is_authenticated()
    }

    fn name(&self, identity: &Identity) -> String {
        identity.name().to_owned()
    }

    fn identity_key(&self, identity: &Identity) -> String {
        let name = identity.identity().name();
        name.map_or_else(String::new, |name| name.normal().to_owned())
    }

    fn background(&self, pause: &dyn Fn(Duration) -> bool) {
        indexing::keep(&|| self.shared_stores(), pause);
    }

    fn begin_search<'h>(
        &'h self,
        kept: &mut Snapshots<'h>,
        identity: &Identity,
        id: MessageId,
        request: &SearchRequest<'_>,
        controls: &Controls<'_>,
    ) -> SearchTask<'h> {
        self.begin_search_on(kept, identity, id, request, controls)
    }

    fn compare<'h>(
        &'h self,
        kept: &mut Snapshots<'h>,
        identity: &Identity,
        id: MessageId,
        request: &CompareRequest<'_>,
        controls: &Controls<'_>,
        out: &mut Vec<u8>,
    ) {
        let result = self.compare_on(kept, identity, request, controls);
        encode::result(out, id, Operation::Compare, &result, &[]);
    }

    fn extended(
        &self,
        identity: &mut Identity,
        id: MessageId,
        request: &ExtendedRequest<'_>,
        controls: &Controls<'_>,
        out: &mut Vec<u8>,
    ) -> ExtendedStep<Check, WriteRequest> {
        match self.extended(identity, id, request, controls) {
            DirectoryExtended::Done(reply) => {
                reply.encode(id, out);
                ExtendedStep::Done
            }
            DirectoryExtended::Passwords(change) => {
                ExtendedStep::CheckPassword(Check::Change(id, change))
            }
            DirectoryExtended::Update(update) => ExtendedStep::Update(update),
            DirectoryExtended::Cancel(target) => ExtendedStep::Cancel(target),
        }
    }

    fn resume_extended(
        &self,
        _: &mut Identity,
        verdict: Verdict,
        out: &mut Vec<u8>,
    ) -> ExtendedStep<Check, WriteRequest> {
        match verdict {
            Verdict::Change(_, Ok(update)) => ExtendedStep::Update(update),
            Verdict::Change(id, Err(result)) => {
                encode::extended_result(out, id, &result, None, None, &[]);
                ExtendedStep::Done
            }
            Verdict::Bind(id, _) => {
                let result = LdapResult::new(ResultCode::Other);
                encode::extended_result(out, id, &result, None, None, &[]);
                ExtendedStep::Done
            }
        }
    }

    fn begin_bind<'h>(
        &'h self,
        kept: &mut Snapshots<'h>,
        identity: &mut Identity,
        id: MessageId,
        request: &BindRequest<'_>,
        controls: &Controls<'_>,
        out: &mut Vec<u8>,
    ) -> BindStep<Check> {
        if identity.abort_transaction() {
            encode::notice_of_aborted_transaction(out, ResultCode::Canceled, b"");
        }
        match self.begin_bind_on(kept, identity, request, controls) {
            DirectoryStep::Done(outcome) => {
                outcome.finish(identity, id, out);
                BindStep::Done
            }
            DirectoryStep::Check(check) => {
                BindStep::CheckPassword(Check::Bind(id, Box::new(check)))
            }
        }
    }

    fn check_password(&self, check: Check) -> Verdict {
        match check {
            Check::Bind(id, check) => Verdict::Bind(id, check.run(self)),
            Check::Change(id, change) => Verdict::Change(id, change.run()),
        }
    }

    fn finish_bind(&self, identity: &mut Identity, verdict: Verdict, out: &mut Vec<u8>) {
        match verdict {
            Verdict::Bind(id, outcome) => outcome.finish(identity, id, out),
            Verdict::Change(id, _) => {
                let result = LdapResult::new(ResultCode::Other);
                encode::bind_result(out, id, &result, None, &[]);
            }
        }
    }

    fn update(
        &self,
        identity: &mut Identity,
        message: &Message<'_>,
        out: &mut Vec<u8>,
    ) -> Option<WriteRequest> {
        let result = match self.begin_update(identity, message) {
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

    fn apply(&self, updates: Vec<WriteRequest>) -> Vec<Vec<u8>> {
        let replies = self.apply(&updates);
        replies.into_iter().map(|reply| reply.bytes).collect()
    }

    fn apply_at_once(&self, updates: &[WriteRequest]) -> Option<Vec<Vec<u8>>> {
        let replies = self.apply_at_once(updates)?;
        Some(replies.into_iter().map(|reply| reply.bytes).collect())
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
        match progress {
            DirectoryProgress::More => Progress::More,
            DirectoryProgress::Done => {
                for index in self.missing_indexes() {
                    let (examined, entries) = (self.examined(), self.entries());
                    tracing::info!(
                        "missing index {index}: a search looked at {examined} entries to find {entries}"
                    );
                }
                Progress::Done
            }
        }
    }

    fn written(&self) -> (u64, u64) {
        (self.entries().into(), self.references().into())
    }

    fn leave(self, kept: &mut Snapshots<'h>) {
        self.leave(kept);
    }

    fn park(&mut self) {
        self.park();
    }
}
