//! One consumer on its thread: it connects, reads, and stores what it gathers.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fulgurite_directory::{
    ContentError, ContentFill, ContentOptions, ContentReport, CopiedContent, Directory,
    Entropy as _, SystemEntropy,
};
use fulgurite_ldap::ResponseMessage;
use fulgurite_policy::Syncrepl;
use fulgurite_replica::{Consumer, ContentChange, Phase, Trouble, Turn, Vector};
use fulgurite_schema::Schema;

use super::directory_source::DirectorySource;
use crate::outgoing::bind_secrets;
use crate::outgoing::connect::connect;
use crate::outgoing::stream::ProviderStream;
use crate::replication_status::{ReplicationStatus, SessionStatus};

/// Changes of one transaction at most.
const BATCH_CHANGES_MAX: usize = 512;
/// Bytes of one transaction, about.
const BATCH_BYTES_MAX: usize = 4 << 20;
/// The time that a change waits for others at most.
const BATCH_PAUSE_MAX: Duration = Duration::from_millis(20);
/// A pause between two transactions, as a multiple of the time that the first took. So a consumer
/// that falls behind gathers more.
const BATCH_PAUSE: u32 = 4;
/// Changes of a transaction after which there is no pause. So a consumer that keeps up stores each
/// change at once, even on a slow disk.
const PAUSELESS_CHANGES_MAX: usize = 8;
/// The time between looks at the wish to stop.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(250);
/// The time between tries of the quarantine.
const QUARANTINE_EVERY: Duration = Duration::from_secs(60);
/// The time without a message after which a fill gives up the writer of the store.
const FILL_SILENCE_MAX: Duration = Duration::from_secs(2);
/// The time that a provider may take to read a request.
pub(super) const SEND_TIMEOUT: Duration = Duration::from_secs(60);

/// A consumer of one database.
#[derive(Clone, Debug)]
pub(super) struct SessionTask {
    /// The folder of the store.
    pub(super) store: PathBuf,
    pub(super) settings: Syncrepl,
    pub(super) multi_provider: bool,
    /// Set when the consumer has to end.
    pub(super) stop: Arc<AtomicBool>,
}

/// A running consumer.
pub(super) struct Session<'l> {
    pub(super) source: &'l dyn DirectorySource,
    pub(super) task: &'l SessionTask,
    status: &'l ReplicationStatus,
    consumer: Consumer,
    pub(super) content: CopiedContent,
    /// Present while a first refresh fills an empty store.
    pub(super) fill: Option<ContentFill<'l>>,
    /// The time of the newest message.
    heard: Instant,
    schema: Arc<Schema>,
    stream: Option<ProviderStream>,
    pending: Vec<ContentChange>,
    pending_bytes: usize,
    /// The end of the last transaction, and the pause behind it.
    stored_at: Instant,
    pause: Duration,
    tried_quarantine: Instant,
    shown: SessionStatus,
}

/// Runs a consumer until it has to end.
pub(super) fn run(source: &dyn DirectorySource, task: &SessionTask, status: &ReplicationStatus) {
    let rid = task.settings.rid;
    match Session::new(source, task, status) {
        Some(mut session) => session.run(),
        None => tracing::error!("syncrepl rid={rid:03}: the database cannot be read"),
    }
    status.forget(&task.store, rid);
}

/// Returns the milliseconds since 1970 as of the start of the program, and those since then. So a
/// clock that is set back postpones no attempt.
pub(super) fn now_ms() -> u64 {
    static BEGUN: OnceLock<(Instant, u64)> = OnceLock::new();
    let (begun, then_ms) = BEGUN.get_or_init(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let then = since.unwrap_or_default().as_millis();
        (Instant::now(), u64::try_from(then).unwrap_or(u64::MAX))
    });
    let elapsed = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    then_ms.saturating_add(elapsed)
}

impl<'l> Session<'l> {
    fn new(
        source: &'l dyn DirectorySource,
        task: &'l SessionTask,
        status: &'l ReplicationStatus,
    ) -> Option<Session<'l>> {
        let directory = source.newest();
        let database = directory.database_at(&task.store)?;
        let stored = Vector::of(database.content_state().ok()?);
        let options = ContentOptions {
            settings: &task.settings,
            multi_provider: task.multi_provider,
        };
        let schema = Arc::clone(directory.schema());
        let server = task.multi_provider.then(|| directory.server_id());
        Some(Session {
            source,
            task,
            status,
            consumer: Consumer::new(task.settings.clone(), stored, server),
            content: CopiedContent::new(&schema, options)?,
            fill: None,
            heard: Instant::now(),
            schema,
            stream: None,
            pending: Vec::new(),
            pending_bytes: 0,
            stored_at: Instant::now(),
            pause: Duration::ZERO,
            tried_quarantine: Instant::now(),
            shown: SessionStatus {
                provider: task.settings.link.url.clone(),
                ..SessionStatus::default()
            },
        })
    }

    fn is_stopped(&self) -> bool {
        self.task.stop.load(Ordering::Relaxed)
    }

    /// Returns true if the configuration has another schema now, or another consumer. Names are
    /// resolved anew then.
    pub(super) fn is_outdated(&self) -> bool {
        let directory = self.source.newest();
        let database = directory.database_at(&self.task.store);
        let is_wanted = database.is_some_and(|database| {
            let is_same = database.is_multi_provider() == self.task.multi_provider;
            is_same && database.consumers().contains(&self.task.settings)
        });
        !is_wanted || !Arc::ptr_eq(directory.schema(), &self.schema)
    }

    fn run(&mut self) {
        while !self.is_stopped() && !self.is_outdated() {
            let turn = self.consumer.turn(now_ms());
            let done = match turn {
                Turn::Connect { deadline_ms } => self.connect(deadline_ms),
                Turn::Receive { deadline_ms } => self.receive(deadline_ms),
                Turn::Wait { until_ms } => {
                    self.wait(until_ms);
                    Ok(())
                }
                Turn::Stop => {
                    self.disconnect();
                    std::thread::sleep(LOOK_EVERY);
                    Ok(())
                }
            };
            if let Err(trouble) = done {
                self.fail(&trouble);
            }
            self.show();
        }
        // Without a commit the next session gets these changes again.
        self.pending.clear();
        self.fill = None;
        self.disconnect();
    }

    fn connect(&mut self, deadline_ms: u64) -> Result<(), Trouble> {
        let timeout = Duration::from_millis(deadline_ms.saturating_sub(now_ms()).max(1));
        self.show();
        let settings = &self.task.settings;
        let user = format!("syncrepl rid={:03}", settings.rid);
        let stream = connect(&settings.link, &user, timeout).map_err(Trouble::Connection)?;
        self.shown.connection = stream.local();
        self.stream = Some(stream);
        // Clients and other consumers may have moved the state meanwhile.
        let database = self.source.newest().database_at(&self.task.store);
        if let Some(Ok(state)) = database.map(|database| database.content_state()) {
            self.consumer.has_stored(Vector::of(state));
        }
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

    /// Reads one message, or waits for a while. Stores what has been gathered when it is time.
    fn receive(&mut self, deadline_ms: Option<u64>) -> Result<(), Trouble> {
        let now = now_ms();
        if deadline_ms.is_some_and(|deadline| deadline <= now) {
            return Err(Trouble::Silence);
        }
        let mut wait = LOOK_EVERY;
        if let Some(deadline) = deadline_ms {
            wait = wait.min(Duration::from_millis(deadline - now));
        }
        if !self.pending.is_empty() {
            wait = wait.min(self.pause.saturating_sub(self.stored_at.elapsed()));
        }
        let Some(stream) = &mut self.stream else {
            return Err(Trouble::Connection("there is no connection".to_owned()));
        };
        let message = stream.receive(wait.max(Duration::from_millis(1)));
        match message.map_err(lost) {
            Ok(Some(bytes)) => {
                self.heard = Instant::now();
                let message = ResponseMessage::decode(bytes);
                let message = message.map_err(|_| Trouble::Protocol("a malformed message"))?;
                let taken = self.consumer.receive(&message, now);
                self.gather();
                if let Err(trouble) = taken {
                    self.store_all()?;
                    return Err(trouble);
                }
                self.send()?;
            }
            // Others may want to write to the store meanwhile.
            Ok(None) if self.fill.is_some() && self.heard.elapsed() >= FILL_SILENCE_MAX => {
                self.store_all()?;
            }
            Ok(None) => {}
            Err(trouble) => {
                // The changes that have come are complete, so they are kept.
                self.store_all()?;
                return Err(trouble);
            }
        }
        self.store_if_due()
    }

    fn gather(&mut self) {
        let changes = self.consumer.take_changes();
        if changes.is_empty() {
            return;
        }
        self.pending_bytes += changes.iter().map(ContentChange::bytes).sum::<usize>();
        self.pending.extend(changes);
    }

    fn store_if_due(&mut self) -> Result<(), Trouble> {
        let is_full =
            self.pending.len() >= BATCH_CHANGES_MAX || self.pending_bytes >= BATCH_BYTES_MAX;
        let more = self.stream.as_ref().is_some_and(ProviderStream::has_more);
        let is_due = !self.pending.is_empty() && self.stored_at.elapsed() >= self.pause && !more;
        let is_waiting = self.consumer.status().phase == Phase::Waiting;
        if is_full || is_due || is_waiting {
            let (begun, changes) = (Instant::now(), self.pending.len());
            self.store()?;
            self.stored_at = Instant::now();
            self.pause = match changes {
                0..=PAUSELESS_CHANGES_MAX => Duration::ZERO,
                _ => (begun.elapsed() * BATCH_PAUSE).min(BATCH_PAUSE_MAX),
            };
        }
        if self.fill.is_none() && self.tried_quarantine.elapsed() >= QUARANTINE_EVERY {
            self.tried_quarantine = Instant::now();
            let (directory, _definitions) = self.source.newest_for_changes();
            if self.is_outdated() {
                return Ok(());
            }
            let tried = directory.retry_quarantined(&self.task.store, &mut self.content);
            tried.map_err(|error| Trouble::Store(error.to_string()))?;
            self.count_quarantined(directory);
        }
        Ok(())
    }

    /// Stores what has been gathered, and what a fill has taken.
    fn store_all(&mut self) -> Result<(), Trouble> {
        self.store()?;
        match self.fill.take() {
            Some(fill) => {
                let report = self.finish_fill(fill, Vec::new())?;
                self.stored(report)
            }
            None => Ok(()),
        }
    }

    /// Stores what has been gathered, in one transaction. A fill takes it for one later.
    fn store(&mut self) -> Result<(), Trouble> {
        let changes = std::mem::take(&mut self.pending);
        self.pending_bytes = 0;
        if changes.is_empty() {
            return Ok(());
        }
        self.begin_fill(&changes)?;
        if let Some(fill) = self.fill.take() {
            return match self.fill_with(fill, changes)? {
                Some(report) => self.stored(report),
                None => Ok(()),
            };
        }
        // A change of the definitions looks for entries that use them, and must see these.
        let (directory, definitions) = self.source.newest_for_changes();
        if self.is_outdated() {
            return Err(Trouble::Connection(
                "the configuration has changed".to_owned(),
            ));
        }
        let report = directory.apply_content(&self.task.store, &mut self.content, &changes);
        drop(definitions);
        let report = report.map_err(|error: ContentError| Trouble::Store(error.to_string()))?;
        self.stored(report)
    }

    /// Notes what a transaction has stored.
    fn stored(&mut self, report: ContentReport) -> Result<(), Trouble> {
        let rid = self.task.settings.rid;
        for warning in &report.warnings {
            tracing::warn!("syncrepl rid={rid:03}: {warning}");
        }
        self.shown.applied += report.applied;
        self.shown.conflicts += report.conflicts;
        if report.quarantined > 0 {
            self.count_quarantined(self.source.newest());
        }
        if let Some(state) = report.state {
            self.consumer.has_stored(Vector::of(state));
        }
        if let Some(reason) = report.lost_sync {
            tracing::warn!("syncrepl rid={rid:03}: {reason}: reading the entries again");
            self.disconnect();
            self.consumer.lost_sync(now_ms());
        }
        Ok(())
    }

    fn count_quarantined(&mut self, directory: &Directory) {
        let database = directory.database_at(&self.task.store);
        let rid = self.task.settings.rid;
        let count = database.and_then(|database| database.quarantined_count(rid).ok());
        self.shown.quarantined = count.unwrap_or(self.shown.quarantined);
    }

    fn wait(&mut self, until_ms: u64) {
        self.disconnect();
        let left = Duration::from_millis(until_ms.saturating_sub(now_ms()));
        std::thread::sleep(left.min(LOOK_EVERY));
    }

    fn disconnect(&mut self) {
        self.stream = None;
        self.shown.connection.clear();
    }

    fn fail(&mut self, trouble: &Trouble) {
        let rid = self.task.settings.rid;
        tracing::warn!("syncrepl rid={rid:03}: {trouble}");
        self.pending.clear();
        self.fill = None;
        self.pending_bytes = 0;
        self.disconnect();
        let [jitter, ..] = SystemEntropy.random();
        self.consumer.failed(trouble, now_ms(), jitter);
    }

    fn show(&mut self) {
        let status = self.consumer.status();
        if status.phase == Phase::Refreshing && self.shown.consumer.phase != Phase::Refreshing {
            let (rid, cookie) = (self.task.settings.rid, &status.cookie_sent);
            tracing::info!("syncrepl rid={rid:03}: starting refresh (sending cookie={cookie})");
        }
        self.shown.consumer.clone_from(status);
        self.status
            .set(&self.task.store, self.task.settings.rid, self.shown.clone());
    }
}

pub(super) fn lost(error: std::io::Error) -> Trouble {
    Trouble::Connection(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::{RwLock, RwLockReadGuard, mpsc};

    use fulgurite_config::{Layer, Settings};
    use fulgurite_ldap::{ContentAttribute, ContentEntry};

    use super::*;
    use crate::compose::open::open_directory;

    struct Source {
        directory: Directory,
        updating: RwLock<()>,
    }

    impl DirectorySource for Source {
        fn newest(&self) -> &Directory {
            &self.directory
        }

        fn newest_for_changes(&self) -> (&Directory, RwLockReadGuard<'_, ()>) {
            (&self.directory, self.updating.read().unwrap())
        }

        fn newest_for_changes_at_once(&self) -> Option<(&Directory, RwLockReadGuard<'_, ()>)> {
            Some((&self.directory, self.updating.try_read().ok()?))
        }
    }

    fn top() -> ContentChange {
        let attributes = [("objectClass", "domain"), ("dc", "x")];
        let attributes = attributes.map(|(description, value)| ContentAttribute {
            description: description.to_owned(),
            values: vec![value.as_bytes().to_vec()],
        });
        ContentChange::Entry(ContentEntry {
            uuid: Default::default(),
            dn: "dc=x".to_owned(),
            attributes: attributes.into(),
            place: None,
            stamps: None,
        })
    }

    #[test]
    fn a_batch_waits_for_a_change_of_the_definitions() {
        waits_for_a_change_of_the_definitions(vec![top()]);
    }

    #[test]
    fn a_fill_waits_for_a_change_of_the_definitions() {
        waits_for_a_change_of_the_definitions(vec![ContentChange::BeginRefresh, top()]);
    }

    fn waits_for_a_change_of_the_definitions(changes: Vec<ContentChange>) {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().to_owned();
        let text = format!(
            "[[database]]\nsuffix = \"dc=x\"\ndata = \"{}\"\nsyncrepl = ['rid=1 \
             provider=ldap://127.0.0.1:9 searchbase=dc=x retry=\"60 +\"']\n",
            store.display()
        );
        let layer = Layer::from_toml(&text, "a.toml".as_ref()).unwrap();
        let settings = Settings::new(layer).unwrap();
        let source = Source {
            directory: open_directory(&settings).unwrap(),
            updating: RwLock::new(()),
        };
        let database = settings.stores().next().unwrap();
        let task = SessionTask {
            store: store.clone(),
            settings: database.content.syncrepl[0].value.settings.clone(),
            multi_provider: false,
            stop: Arc::default(),
        };
        let entries = || {
            let database = source.directory.database_at(&store).unwrap();
            database.store().snapshot().unwrap().entry_count().unwrap()
        };
        let status = ReplicationStatus::default();
        let (begun, begin) = mpsc::channel();
        let changing = source.updating.write().unwrap();
        std::thread::scope(|scope| {
            let consumer = scope.spawn(|| {
                let mut session = Session::new(&source, &task, &status).unwrap();
                session.pending = changes;
                begun.send(()).unwrap();
                session.store_all().unwrap();
            });
            begin.recv().unwrap();
            // A batch that did not wait would be there soon.
            std::thread::sleep(Duration::from_millis(300));
            assert!(!consumer.is_finished());
            assert_eq!(entries(), 0);
            drop(changing);
        });
        assert_eq!(entries(), 1);
    }
}
