//! A directory whose configuration can change while it serves.
//!
//! ```text
//!   generation 0      generation 1      generation 2 = newest       each a whole Directory; stores are shared
//!      ^ a search that began then        ^ every request from now on
//! ```
//! A request is answered by the generation that was the newest when it came. Old generations stay until the server
//! ends: no request has to say when it is done with one, so finding the newest takes no lock and writes nothing. What
//! stays is rules and limits, and a schema where that has changed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use fulgurite_directory::{Connection, Directory, SearchTask, Session, Snapshots, WriteRequest};
use fulgurite_ldap::{
    BindRequest, CompareRequest, Controls, ExtendedRequest, LdapResult, Message, MessageId,
    SearchRequest,
};

use crate::handler::{BindStep, ExtendedStep, Handler};
use crate::indexing;
use crate::monitor::Monitor;
use crate::statistics::lock;

/// How often the configuration may change before the server has to be started anew.
const GENERATIONS_MAX: usize = 4096;

/// Makes the next generation of the one that serves, or says why not.
pub type Reload<'r> = dyn Fn(&Directory) -> Result<Directory, String> + Send + Sync + 'r;

/// A directory that is served, with what makes the next one of it.
pub struct Live<'r> {
    /// Filled from the front. Boxed, so that places that are never filled cost little.
    generations: Box<[OnceLock<Box<Directory>>]>,
    newest: AtomicUsize,
    reload: Option<Box<Reload<'r>>>,
    /// Held while the next generation is made.
    reloading: Mutex<()>,
    monitor: Option<Arc<Monitor>>,
}

impl<'r> Live<'r> {
    /// Serves a directory that does not change.
    #[must_use]
    pub fn new(directory: Directory) -> Live<'r> {
        let mut generations = vec![OnceLock::from(Box::new(directory))];
        generations.resize_with(GENERATIONS_MAX, OnceLock::new);
        Live {
            generations: generations.into_boxed_slice(),
            newest: AtomicUsize::new(0),
            reload: None,
            reloading: Mutex::new(()),
            monitor: None,
        }
    }

    /// The same, with what makes the next generation when an administrator asks for it.
    #[must_use]
    pub fn reloaded_by(mut self, reload: Box<Reload<'r>>) -> Live<'r> {
        self.reload = Some(reload);
        self
    }

    /// The same, with the figures to be said on request.
    #[must_use]
    pub fn monitored_by(mut self, monitor: Arc<Monitor>) -> Live<'r> {
        self.monitor = Some(monitor);
        self
    }

    /// The newest generation.
    #[must_use]
    pub fn current(&self) -> &Directory {
        let newest = self.newest.load(Ordering::Acquire);
        // Filled before the number was told; the first is there from the start.
        let found = self.generations.get(newest).and_then(OnceLock::get);
        found
            .or_else(|| self.generations.iter().find_map(OnceLock::get))
            .unwrap_or_else(|| unreachable!("there is a first generation"))
    }

    /// Makes the next generation.
    ///
    /// # Errors
    /// Why not; what served before goes on.
    pub fn renew(&self) -> Result<(), String> {
        let Some(reload) = &self.reload else {
            return Err("there is no configuration to read again".to_owned());
        };
        let _held = lock(&self.reloading);
        let next = self.newest.load(Ordering::Acquire) + 1;
        let Some(place) = self.generations.get(next) else {
            return Err(format!(
                "the configuration has changed {GENERATIONS_MAX} times: the server has to be started anew"
            ));
        };
        let directory = reload(self.current())?;
        let _ = place.set(Box::new(directory));
        self.newest.store(next, Ordering::Release);
        Ok(())
    }
}

impl std::fmt::Debug for Live<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live")
            .field("newest", &self.newest)
            .finish_non_exhaustive()
    }
}

impl Handler for Live<'_> {
    type Identity = Session;
    type Search<'h>
        = SearchTask<'h>
    where
        Self: 'h;
    type Kept<'h>
        = Snapshots<'h>
    where
        Self: 'h;
    type Update = WriteRequest;
    type PasswordCheck = <Directory as Handler>::PasswordCheck;
    type PasswordVerdict = <Directory as Handler>::PasswordVerdict;

    fn connected(&self, connection: Arc<Connection>) -> Session {
        self.current().connected(connection)
    }

    fn secured(&self, identity: &mut Session, connection: Arc<Connection>) {
        self.current().secured(identity, connection);
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
        Handler::start_tls(self.current(), identity, request, controls)
    }

    fn is_authenticated(&self, identity: &Session) -> bool {
        Handler::is_authenticated(self.current(), identity)
    }

    fn name(&self, identity: &Session) -> String {
        Handler::name(self.current(), identity)
    }

    fn identity_key(&self, identity: &Session) -> String {
        Handler::identity_key(self.current(), identity)
    }

    fn reload(&self) {
        match self.renew() {
            Ok(()) => tracing::info!("the configuration has been read again"),
            Err(reason) => {
                tracing::error!("the configuration stays as it was: {reason}");
            }
        }
    }

    fn background(&self, pause: &dyn Fn(Duration) -> bool) {
        indexing::keep(&|| self.current().shared_stores(), pause);
    }

    fn dump(&self) {
        let Some(monitor) = &self.monitor else {
            return;
        };
        for line in monitor.dump() {
            tracing::info!("{line}");
        }
    }

    fn begin_search<'h>(
        &'h self,
        kept: &mut Snapshots<'h>,
        identity: &Session,
        id: MessageId,
        request: &SearchRequest<'_>,
        controls: &Controls<'_>,
    ) -> SearchTask<'h> {
        Handler::begin_search(self.current(), kept, identity, id, request, controls)
    }

    fn compare<'h>(
        &'h self,
        kept: &mut Snapshots<'h>,
        identity: &Session,
        id: MessageId,
        request: &CompareRequest<'_>,
        controls: &Controls<'_>,
        out: &mut Vec<u8>,
    ) {
        Handler::compare(self.current(), kept, identity, id, request, controls, out);
    }

    fn extended(
        &self,
        identity: &mut Session,
        id: MessageId,
        request: &ExtendedRequest<'_>,
        controls: &Controls<'_>,
        out: &mut Vec<u8>,
    ) -> ExtendedStep<Self::PasswordCheck, WriteRequest> {
        Handler::extended(self.current(), identity, id, request, controls, out)
    }

    fn resume_extended(
        &self,
        identity: &mut Session,
        verdict: Self::PasswordVerdict,
        out: &mut Vec<u8>,
    ) -> ExtendedStep<Self::PasswordCheck, WriteRequest> {
        self.current().resume_extended(identity, verdict, out)
    }

    fn begin_bind<'h>(
        &'h self,
        kept: &mut Snapshots<'h>,
        identity: &mut Session,
        id: MessageId,
        request: &BindRequest<'_>,
        controls: &Controls<'_>,
        out: &mut Vec<u8>,
    ) -> BindStep<Self::PasswordCheck> {
        Handler::begin_bind(self.current(), kept, identity, id, request, controls, out)
    }

    fn check_password(&self, check: Self::PasswordCheck) -> Self::PasswordVerdict {
        self.current().check_password(check)
    }

    fn finish_bind(
        &self,
        identity: &mut Session,
        verdict: Self::PasswordVerdict,
        out: &mut Vec<u8>,
    ) {
        self.current().finish_bind(identity, verdict, out);
    }

    fn update(
        &self,
        identity: &mut Session,
        message: &Message<'_>,
        out: &mut Vec<u8>,
    ) -> Option<WriteRequest> {
        Handler::update(self.current(), identity, message, out)
    }

    fn apply(&self, updates: Vec<WriteRequest>) -> Vec<Vec<u8>> {
        Handler::apply(self.current(), updates)
    }

    fn apply_at_once(&self, updates: &[WriteRequest]) -> Option<Vec<Vec<u8>>> {
        Handler::apply_at_once(self.current(), updates)
    }
}
