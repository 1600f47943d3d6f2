//! A session and the part of its driver.

use std::sync::Arc;

use fulgurite_server::{Handler as _, Job, Session, SessionLimits, Turn};

use crate::common::stub::{Stub, added};
use crate::common::take_responses;

/// A session and what a driver would do for it.
pub(crate) struct Connection<'h> {
    pub(crate) stub: &'h Stub,
    pub(crate) session: Session<'h, Stub>,
    pub(crate) received: Vec<u8>,
    pub(crate) jobs: Vec<Job<Stub>>,
}

impl<'h> Connection<'h> {
    pub(crate) fn new(stub: &'h Stub, limits: &'h SessionLimits) -> Self {
        Connection {
            stub,
            session: Session::new(stub, Arc::new(limits.clone()), None, Arc::default()),
            received: Vec::new(),
            jobs: Vec::new(),
        }
    }

    pub(crate) fn send(&mut self, requests: &[Vec<u8>]) {
        self.session.receive(&requests.concat());
    }

    /// One turn; the client takes all there is.
    pub(crate) fn turn(&mut self) -> (Turn, Vec<String>) {
        let turn = self.session.turn();
        self.jobs.extend(self.session.take_jobs());
        self.received.extend_from_slice(self.session.unsent());
        let count = self.session.unsent().len();
        self.session.sent(count);
        (turn, take_responses(&mut self.received))
    }

    /// RunQueue until nothing more happens by itself.
    pub(crate) fn settle(&mut self) -> Vec<String> {
        let mut responses = Vec::new();
        for _ in 0..10_000 {
            let (turn, more) = self.turn();
            responses.extend(more);
            if matches!(turn, Turn::Waits | Turn::Closing) {
                return responses;
            }
        }
        panic!("the session does not settle");
    }

    pub(crate) fn talk(&mut self, requests: &[Vec<u8>]) -> Vec<String> {
        self.send(requests);
        self.settle()
    }

    /// Lets the writer and the hashing pool do what they were given.
    pub(crate) fn finish_jobs(&mut self) {
        for job in std::mem::take(&mut self.jobs) {
            match job {
                Job::Update(id, token, _) => {
                    if token.begin() {
                        self.session.updated(id, &added(id));
                    }
                }
                Job::HoldBind(number, _) => self.session.release_bind(number),
                Job::AwaitState(number, _) => self.session.state_reached(number, Ok(())),
                Job::CheckPassword(number, check) => {
                    let verdict = self.stub.check_password(check);
                    self.session.password_checked(number, Some(verdict));
                }
            }
        }
    }
}
