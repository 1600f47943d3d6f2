//! Calls: one try after another, each at the next member.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use rustls::ClientConfig;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::error::EtcdError;
use crate::settings::{EtcdSettings, Member};
use crate::wire::Connection;

/// The result of a call.
#[derive(Debug)]
pub(crate) struct Called {
    pub(crate) result: Result<Value, EtcdError>,
    /// True if a try was given up, so that it may still be taken.
    pub(crate) was_given_up: bool,
}

/// A client of one thread. It keeps a connection to one member, until that fails.
pub(crate) struct Client {
    runtime: Runtime,
    members: Vec<Member>,
    tls: Option<Arc<ClientConfig>>,
    user: Option<(String, String)>,
    try_wait: Duration,
    call_wait: Duration,
    current: Cell<usize>,
    connection: RefCell<Option<Connection>>,
    token: RefCell<Option<String>>,
    /// The error of the last call.
    trouble: RefCell<Option<EtcdError>>,
}

impl fmt::Debug for Client {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = out.debug_struct("Client");
        out.field("members", &self.members).finish_non_exhaustive()
    }
}

impl Client {
    pub(crate) fn new(settings: &EtcdSettings) -> Result<Client, EtcdError> {
        let members = settings.addresses()?;
        let tls = settings.tls.as_ref().map(|files| files.config());
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build();
        Ok(Client {
            runtime: runtime.map_err(|error| EtcdError::Setting(error.to_string()))?,
            members,
            tls: tls.transpose()?,
            user: settings.user.clone(),
            try_wait: Duration::from_millis(settings.try_ms),
            call_wait: Duration::from_millis(settings.call_ms),
            current: Cell::new(0),
            connection: RefCell::default(),
            token: RefCell::default(),
            trouble: RefCell::default(),
        })
    }

    /// Returns the number of members.
    pub(crate) fn members(&self) -> usize {
        self.members.len()
    }

    /// Returns the error of the last call, if it had one.
    pub(crate) fn trouble(&self) -> Option<EtcdError> {
        self.trouble.borrow().clone()
    }

    /// Asks one member after another until one answers, or the time is over.
    pub(crate) fn call(&self, path: &str, question: &Value) -> Called {
        let called = self.try_members(path, question);
        self.trouble.replace(called.result.as_ref().err().cloned());
        called
    }

    fn try_members(&self, path: &str, question: &Value) -> Called {
        let end = Instant::now() + self.call_wait;
        let mut was_given_up = false;
        loop {
            let result = self.call_current(path, question, self.try_wait);
            let is_open = matches!(result, Err(EtcdError::Silence(_)));
            if !is_open {
                return Called {
                    result,
                    was_given_up,
                };
            }
            was_given_up = true;
            self.current
                .set((self.current.get() + 1) % self.members.len());
            if Instant::now() >= end {
                return Called {
                    result,
                    was_given_up,
                };
            }
            // A refused connection costs no time, so a pause is needed.
            std::thread::sleep(self.try_wait / 20);
        }
    }

    /// Asks one member, which may take as long as `wait`.
    pub(crate) fn call_member(
        &self,
        member: usize,
        path: &str,
        question: &Value,
        wait: Duration,
    ) -> Result<Value, EtcdError> {
        self.connection.take();
        self.current.set(member % self.members.len());
        self.call_current(path, question, wait)
    }

    /// Asks the current member. An old token is replaced once.
    fn call_current(
        &self,
        path: &str,
        question: &Value,
        wait: Duration,
    ) -> Result<Value, EtcdError> {
        self.sign_in(wait)?;
        let result = self.post(path, question, wait);
        match result {
            Err(error) if self.user.is_some() && error.is_about_token() => {
                self.token.take();
                self.sign_in(wait)?;
                self.post(path, question, wait)
            }
            result => result,
        }
    }

    /// Gets a token, if etcd has users.
    fn sign_in(&self, wait: Duration) -> Result<(), EtcdError> {
        let Some((name, password)) = self.user.as_ref().filter(|_| self.token.borrow().is_none())
        else {
            return Ok(());
        };
        let question = json!({"name": name, "password": password});
        let answer = self.post("/v3/auth/authenticate", &question, wait)?;
        let token = answer.get("token").and_then(Value::as_str);
        *self.token.borrow_mut() = token.map(str::to_owned);
        Ok(())
    }

    /// Returns a page of text that a member has for everybody.
    pub(crate) fn page(
        &self,
        member: usize,
        path: &str,
        wait: Duration,
    ) -> Result<String, EtcdError> {
        self.connection.take();
        self.current.set(member % self.members.len());
        self.talk(wait, async |connection, member| {
            connection.get(member, path).await
        })
    }

    fn post(&self, path: &str, question: &Value, wait: Duration) -> Result<Value, EtcdError> {
        let body = Bytes::from(question.to_string());
        let token = self.token.borrow().clone();
        self.talk(wait, async |connection, member| {
            connection.post(member, path, token.as_deref(), body).await
        })
    }

    /// Talks to the current member.
    fn talk<T>(
        &self,
        wait: Duration,
        talk: impl AsyncFnOnce(&mut Connection, &Member) -> Result<T, EtcdError>,
    ) -> Result<T, EtcdError> {
        let member = &self.members[self.current.get()];
        let kept = self.connection.take();
        let work = async {
            let mut connection = match kept {
                Some(connection) => connection,
                None => Connection::open(member, self.tls.as_ref()).await?,
            };
            let answer = talk(&mut connection, member).await;
            Ok((connection, answer))
        };
        let done = self.runtime.block_on(async { timeout(wait, work).await });
        let late = |_| EtcdError::Silence("a try has taken too long".to_owned());
        let (connection, answer) = done.map_err(late)??;
        if !matches!(answer, Err(EtcdError::Silence(_))) {
            self.connection.replace(Some(connection));
        }
        answer
    }
}
