//! The directory as a handler: messages to its operations, results to bytes.

use std::sync::Arc;

use fulgurite_directory::{
    BindOutcome, BindStep as DirectoryStep, Connection, Directory,
    ExtendedStep as DirectoryExtended, PasswordCheck, Progress as DirectoryProgress, Quantum,
    SearchTask, Session as Identity, WriteRequest,
};
use fulgurite_ldap::{
    BindRequest, CompareRequest, Controls, ExtendedRequest, LdapResult, Message, MessageId,
    Operation, SearchRequest, encode,
};

use crate::handler::{BindStep, ExtendedStep, Handler, Progress, RunningSearch};

/// A password to verify for the bind with this id.
pub struct Check(MessageId, PasswordCheck);

/// What the verification for the bind with this id has found.
pub struct Verdict(MessageId, BindOutcome);

impl Handler for Directory {
    type Identity = Identity;
    type Search<'h> = SearchTask<'h>;
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

    fn begin_search<'h>(
        &'h self,
        identity: &Identity,
        id: MessageId,
        request: &SearchRequest<'_>,
        controls: &Controls<'_>,
    ) -> SearchTask<'h> {
        self.begin_search(identity, id, request, controls)
    }

    fn compare(
        &self,
        identity: &Identity,
        id: MessageId,
        request: &CompareRequest<'_>,
        controls: &Controls<'_>,
        out: &mut Vec<u8>,
    ) {
        let result = self.compare(identity, request, controls);
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
        match self.extended(identity, request, controls) {
            DirectoryExtended::Done(reply) => {
                reply.encode(id, out);
                ExtendedStep::Done
            }
            DirectoryExtended::Cancel(target) => ExtendedStep::Cancel(target),
        }
    }

    fn resume_extended(
        &self,
        _: &mut Identity,
        _: Verdict,
        _: &mut Vec<u8>,
    ) -> ExtendedStep<Check, WriteRequest> {
        ExtendedStep::Done
    }

    fn begin_bind(
        &self,
        identity: &mut Identity,
        id: MessageId,
        request: &BindRequest<'_>,
        controls: &Controls<'_>,
        out: &mut Vec<u8>,
    ) -> BindStep<Check> {
        match self.begin_bind(identity, request, controls) {
            DirectoryStep::Done(outcome) => {
                outcome.finish(identity, id, out);
                BindStep::Done
            }
            DirectoryStep::Check(check) => BindStep::CheckPassword(Check(id, check)),
        }
    }

    fn check_password(&self, Check(id, check): Check) -> Verdict {
        Verdict(id, check.run(self))
    }

    fn finish_bind(
        &self,
        identity: &mut Identity,
        Verdict(id, outcome): Verdict,
        out: &mut Vec<u8>,
    ) {
        outcome.finish(identity, id, out);
    }

    fn update(
        &self,
        identity: &mut Identity,
        _: &Message<'_>,
        pdu: &[u8],
        _: &mut Vec<u8>,
    ) -> Option<WriteRequest> {
        Some(WriteRequest::new(identity, pdu))
    }

    fn apply(&self, updates: Vec<WriteRequest>) -> Vec<Vec<u8>> {
        let replies = self.apply(&updates);
        replies.into_iter().map(|reply| reply.bytes).collect()
    }
}

impl RunningSearch for SearchTask<'_> {
    fn advance(&mut self, out: &mut Vec<u8>, room: usize) -> Progress {
        let quantum = Quantum {
            bytes_max: room,
            ..Quantum::default()
        };
        match self.advance(out, quantum) {
            DirectoryProgress::More => Progress::More,
            DirectoryProgress::Done => Progress::Done,
        }
    }

    fn written(&self) -> (u64, u64) {
        (self.entries().into(), 0)
    }

    fn park(&mut self) {
        self.park();
    }
}
