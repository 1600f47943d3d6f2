//! The copy of another server's configuration: one thread for each `syncrepl` of `cn=config`.
//!
//! ```text
//!   provider --entries--> the provider's tree in memory --end of a refresh, change--> in force, or refused
//! ```
//!
//! A session begins without a state, because the tree is small. Its entries come into force as a
//! whole, by the parser and the checks of a client's change. A tree that this server cannot have
//! is in the quarantine. The present one stays, and the next change is another try.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use fulgurite_directory::{Entropy as _, SystemEntropy};
use fulgurite_ldap::{ResponseMessage, ResultCode};
use fulgurite_policy::Syncrepl;
use fulgurite_replica::{Consumer, Phase, Trouble, Turn, Vector};

use super::directory_source::{DirectorySource, ToldConfiguration};
use super::session::{LOOK_EVERY, SEND_TIMEOUT, lost, now_ms};
use super::told_tree::ToldTree;
use crate::outgoing::bind_secrets;
use crate::outgoing::connect::connect;
use crate::outgoing::stream::ProviderStream;
use crate::replication_status::{ReplicationStatus, SessionStatus};

/// The place of these consumers among the states of all.
const PLACE: &str = "cn=config";

/// The time after which a provider is asked again that has another configuration now.
const AGAIN_AFTER: Duration = Duration::from_millis(50);

/// The threads that copy the configuration.
#[derive(Default)]
pub(super) struct ConfigurationCopies<'scope>(Vec<Running<'scope>>);

struct Running<'scope> {
    settings: Syncrepl,
    stop: Arc<AtomicBool>,
    handle: ScopedJoinHandle<'scope, ()>,
}

impl<'scope> ConfigurationCopies<'scope> {
    /// Starts and ends threads as the newest configuration says.
    pub(super) fn fit<'env: 'scope>(
        &mut self,
        scope: &'scope Scope<'scope, 'env>,
        source: &'env dyn DirectorySource,
        status: &'env ReplicationStatus,
    ) {
        let wanted = source.configuration_consumers();
        for one in &self.0 {
            if !wanted.contains(&one.settings) {
                one.stop.store(true, Ordering::Relaxed);
            }
        }
        self.0.retain(|one| !one.handle.is_finished());
        for settings in wanted {
            let rid = settings.rid;
            if self.0.iter().any(|one| one.settings.rid == rid) {
                continue;
            }
            let stop = Arc::new(AtomicBool::new(false));
            let (own, own_stop) = (settings.clone(), Arc::clone(&stop));
            let started = thread::Builder::new()
                .name(format!("syncrepl-{rid:03}"))
                .spawn_scoped(scope, move || {
                    Session::new(source, (&own, &own_stop), status).run();
                    status.forget(Path::new(PLACE), rid);
                });
            match started {
                Ok(handle) => self.0.push(Running {
                    settings,
                    stop,
                    handle,
                }),
                Err(error) => tracing::error!("syncrepl rid={rid:03}: no thread: {error}"),
            }
        }
    }

    /// Lets all threads end.
    pub(super) fn stop(&self) {
        for one in &self.0 {
            one.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// A running consumer.
struct Session<'l> {
    source: &'l dyn DirectorySource,
    settings: &'l Syncrepl,
    stop: &'l AtomicBool,
    status: &'l ReplicationStatus,
    consumer: Consumer,
    stream: Option<ProviderStream>,
    tree: ToldTree,
    /// The reason why the present tree of the provider is not in force.
    refused: Option<String>,
    shown: SessionStatus,
}

impl<'l> Session<'l> {
    fn new(
        source: &'l dyn DirectorySource,
        (settings, stop): (&'l Syncrepl, &'l AtomicBool),
        status: &'l ReplicationStatus,
    ) -> Session<'l> {
        Session {
            source,
            settings,
            stop,
            status,
            consumer: consumer(settings),
            stream: None,
            tree: ToldTree::default(),
            refused: None,
            shown: SessionStatus {
                provider: settings.link.url.clone(),
                ..SessionStatus::default()
            },
        }
    }

    fn run(&mut self) {
        while !self.stop.load(Ordering::Relaxed) {
            let done = match self.consumer.turn(now_ms()) {
                Turn::Connect { deadline_ms } => self.connect(deadline_ms),
                Turn::Receive { deadline_ms } => self.receive(deadline_ms),
                Turn::Wait { until_ms } => {
                    self.disconnect();
                    let left = Duration::from_millis(until_ms.saturating_sub(now_ms()));
                    thread::sleep(left.min(LOOK_EVERY));
                    Ok(())
                }
                Turn::Stop => {
                    self.disconnect();
                    thread::sleep(LOOK_EVERY);
                    Ok(())
                }
            };
            if let Err(trouble) = done {
                self.fail(&trouble);
            }
            self.show();
        }
    }

    fn connect(&mut self, deadline_ms: u64) -> Result<(), Trouble> {
        let timeout = Duration::from_millis(deadline_ms.saturating_sub(now_ms()).max(1));
        self.show();
        let user = format!("syncrepl rid={:03}", self.settings.rid);
        let stream = connect(&self.settings.link, &user, timeout).map_err(Trouble::Connection)?;
        self.shown.connection = stream.local();
        self.stream = Some(stream);
        self.tree = ToldTree::default();
        self.consumer.connected(now_ms(), bind_secrets())?;
        self.send()
    }

    fn send(&mut self) -> Result<(), Trouble> {
        let bytes = self.consumer.take_output();
        let Some(stream) = self.stream.as_mut().filter(|_| !bytes.is_empty()) else {
            return Ok(());
        };
        stream.send(&bytes, SEND_TIMEOUT).map_err(lost)
    }

    /// Reads one message, or waits for a while.
    fn receive(&mut self, deadline_ms: Option<u64>) -> Result<(), Trouble> {
        let now = now_ms();
        if deadline_ms.is_some_and(|deadline| deadline <= now) {
            return Err(Trouble::Silence);
        }
        let left = deadline_ms.map_or(LOOK_EVERY, |at| Duration::from_millis(at - now));
        let Some(stream) = &mut self.stream else {
            return Err(Trouble::Connection("there is no connection".to_owned()));
        };
        let received = stream.receive(left.clamp(Duration::from_millis(1), LOOK_EVERY));
        if let Some(bytes) = received.map_err(lost)? {
            let message = ResponseMessage::decode(bytes);
            let message = message.map_err(|_| Trouble::Protocol("a malformed message"))?;
            let taken = self.consumer.receive(&message, now);
            let changes = self.consumer.take_changes();
            changes
                .into_iter()
                .for_each(|change| self.tree.take(change));
            taken?;
            self.send()?;
        }
        let has_more = self.stream.as_ref().is_some_and(ProviderStream::has_more);
        if self.tree.is_complete() && !has_more {
            self.put_in_force();
        }
        Ok(())
    }

    fn put_in_force(&mut self) {
        self.tree.note_tried();
        let (rid, url) = (self.settings.rid, &self.settings.link.url);
        let entries = self.tree.entries();
        let count = self.tree.entry_count() as u64;
        let taken = entries.and_then(|entries| {
            self.source.copy_configuration(ToldConfiguration {
                base: self.settings.search_base.clone(),
                entries,
                state: self.tree.state(),
            })
        });
        self.shown.quarantined = 0;
        match taken {
            Ok(is_new) => {
                self.refused = None;
                self.shown.applied += u64::from(is_new);
            }
            Err(reason) => {
                self.shown.quarantined = count;
                if self.refused.as_ref() != Some(&reason) {
                    tracing::error!(
                        "syncrepl rid={rid:03}: this server cannot have the configuration of {url}, \
                         and keeps the present one: {reason}"
                    );
                }
                self.refused = Some(reason);
            }
        }
    }

    fn disconnect(&mut self) {
        self.stream = None;
        self.shown.connection.clear();
    }

    fn fail(&mut self, trouble: &Trouble) {
        self.disconnect();
        // The provider has another configuration now, which ends the searches of the one before.
        let is_unavailable = |trouble: &Trouble| match trouble {
            Trouble::Search(result) => result.code == ResultCode::Unavailable,
            _ => false,
        };
        if self.consumer.status().phase == Phase::Persisting && is_unavailable(trouble) {
            self.consumer = consumer(self.settings);
            thread::sleep(AGAIN_AFTER);
            return;
        }
        tracing::warn!("syncrepl rid={:03}: {trouble}", self.settings.rid);
        let [jitter, ..] = SystemEntropy.random();
        self.consumer.failed(trouble, now_ms(), jitter);
    }

    fn show(&mut self) {
        self.shown.consumer.clone_from(self.consumer.status());
        let place = Path::new(PLACE);
        self.status
            .set(place, self.settings.rid, self.shown.clone());
    }
}

fn consumer(settings: &Syncrepl) -> Consumer {
    Consumer::new(settings.clone(), Vector::default(), None)
}
