//! A database as the content of a node.

use fulgurite_cluster::{
    Batch, Content, Csn, Divergence, Effects, Head, Position, RecordKind, Time,
};
use fulgurite_store::{RoomFor, StoreError, Writer};

use super::end;
use super::recorder::Recorder;
use super::replica::{Replica, Unapplied, packed};
use super::requirements::{Unsuitable, check_settings, stored_end};
use crate::core::database::Database;
use crate::core::session::Session;
use crate::directory::Directory;
use crate::write::request::{WriteReply, WriteRequest};

/// Milliseconds after which a store that has failed is tried again.
const RETRY_MS: u64 = 1000;

/// Milliseconds between two looks at the bytes that have changed since the last checkpoint.
const LOOK_MS: u64 = 1000;

/// The database of a node. Between `begin` and `commit` or `abort` it holds the store's writer. So
/// all updates go through it, and one thread owns it.
///
/// A store with checkpoints makes one when the rule says so. The log has all that was committed
/// since. In another store each commit is durable, as far as its settings want it.
#[derive(Debug)]
pub struct StoreContent<'d> {
    directory: &'d Directory,
    database: &'d Database,
    head: Head,
    open: Option<OpenBatch<'d>>,
    has_failed: bool,
    /// The end of the wait after a failure.
    retry_ms: Option<u64>,
    warnings: Vec<String>,
    rule: CheckpointRule,
    /// The end of the last checkpoint; `None` in a store without checkpoints.
    durable: Option<Position>,
    /// The begin of the time that the rule counts.
    checkpoint_ms: Option<u64>,
    /// The last look at the changed bytes.
    looked_ms: u64,
}

/// The times at which a store with checkpoints makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointRule {
    /// Milliseconds between two at most.
    pub interval_ms: u64,
    /// Bytes of changed pages between two, about.
    pub bytes_max: u64,
}

impl Default for CheckpointRule {
    fn default() -> CheckpointRule {
        CheckpointRule {
            interval_ms: 30_000,
            bytes_max: 256 << 20,
        }
    }
}

/// The open transaction.
#[derive(Debug)]
struct OpenBatch<'d> {
    writer: Writer<'d>,
    freed: Vec<Session>,
}

impl<'d> StoreContent<'d> {
    /// Begins a cluster with a database: its content is position 0.
    ///
    /// # Errors
    /// [`Unsuitable`].
    pub fn found(database: &Database) -> Result<(), Unsuitable> {
        check_settings(database)?;
        let mut writer = database.store.write()?;
        end::write(&mut writer, Head::default())?;
        Ok(writer.commit()?)
    }

    /// Returns the content that a database has.
    ///
    /// # Errors
    /// [`Unsuitable`].
    pub fn open(
        directory: &'d Directory,
        database: &'d Database,
    ) -> Result<StoreContent<'d>, Unsuitable> {
        check_settings(database)?;
        let head = stored_end(database)?.head;
        let environment = database.store.environment();
        let mut durable = None;
        if environment.last_checkpoint().is_some() {
            // All that was committed since the store was opened is part of it.
            environment.checkpoint().map_err(StoreError::from)?;
            durable = Some(head.position);
        }
        Ok(StoreContent {
            directory,
            database,
            head,
            open: None,
            has_failed: false,
            retry_ms: None,
            warnings: Vec::new(),
            rule: CheckpointRule::default(),
            durable,
            checkpoint_ms: None,
            looked_ms: 0,
        })
    }

    /// Sets the times of checkpoints.
    #[must_use]
    pub fn with_checkpoints(mut self, rule: CheckpointRule) -> Self {
        self.rule = rule;
        self
    }

    /// Makes a checkpoint if it is time.
    fn checkpoint_if_due(&mut self, now_ms: u64) {
        if self.durable.is_none() || self.has_failed {
            return;
        }
        let begun_ms = *self.checkpoint_ms.get_or_insert(now_ms);
        let environment = self.database.store.environment();
        let mut is_due = now_ms >= begun_ms.saturating_add(self.rule.interval_ms);
        if !is_due && now_ms >= self.looked_ms.saturating_add(LOOK_MS) {
            self.looked_ms = now_ms;
            let changed = environment.bytes_since_checkpoint();
            is_due = changed.is_ok_and(|changed| changed >= self.rule.bytes_max);
        }
        if !is_due {
            return;
        }
        self.checkpoint_ms = Some(now_ms);
        match environment.checkpoint() {
            // An open transaction is not part of it.
            Ok(_) => self.durable = Some(self.head.position),
            Err(error) => self.failed(&error.into()),
        }
    }

    /// Takes the sentences for the log since the last call: failures of the store, and differences.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Notes a failure of the store.
    fn failed(&mut self, error: &StoreError) {
        self.has_failed = true;
        self.retry_ms = None;
        self.warnings.push(error.to_string());
        if let Some(shortage) = error.shortage() {
            self.database.store.count_refused(shortage);
            // The log of changes gives its room to the entries: the next try finds it.
            let _ = self.database.store.make_room(RoomFor::Storing(0));
        }
    }

    fn try_apply(&self, batch: &Batch, head: Head) -> Result<(), Unapplied> {
        let mut writer = self.database.store.write()?;
        let mut kinds = batch.records.iter().map(|record| record.kind);
        if kinds.all(|kind| kind == RecordKind::Delete) {
            writer.use_reserve();
        }
        writer.follow();
        let mut replica = Replica {
            core: self.directory.core(),
            database: self.database,
            writer: &mut writer,
        };
        let mut records = batch.records.iter();
        records.try_for_each(|record| replica.apply(record))?;
        end::write(&mut writer, head)?;
        Ok(writer.commit()?)
    }

    /// Notes the new end.
    fn ended(&mut self, head: Head) {
        self.head = head;
        let core = self.directory.core();
        core.csn.exceed(packed(head.csn));
        core.changes.committed();
    }
}

impl Content for StoreContent<'_> {
    type Update = WriteRequest;
    type Answer = WriteReply;

    fn head(&self) -> Head {
        self.head
    }

    fn durable(&self) -> Position {
        self.durable.unwrap_or(self.head.position)
    }

    fn is_writable(&self) -> bool {
        !self.has_failed
    }

    fn begin(&mut self, updates: &[&WriteRequest], last: Csn, _: Time) -> Effects<WriteReply> {
        assert!(self.open.is_none(), "one transaction at a time");
        let core = self.directory.core();
        core.csn.exceed(packed(last));
        let mut recorder = Recorder::new(core);
        let ran = self
            .directory
            .run_ordered(self.database, updates, &mut recorder);
        if ran.is_disk_full {
            // The node hands its leadership over. The other updates of the batch may be done.
            self.has_failed = true;
            self.retry_ms = None;
            let text = "the disk has no room for an update: another node has to lead";
            self.warnings.push(text.to_owned());
        }
        self.open = ran.writer.map(|writer| OpenBatch {
            writer,
            freed: ran.freed,
        });
        let numbered = recorder.records.iter();
        let mut numbered = numbered.filter(|record| !record.is_unordered);
        debug_assert!(numbered.all(|record| record.csn > last), "numbers ascend");
        Effects {
            records: recorder.records,
            answers: ran.replies,
        }
    }

    fn code(answer: &WriteReply) -> u32 {
        answer.result.code.number()
    }

    fn commit(&mut self, head: Head) {
        let OpenBatch { mut writer, freed } = self.open.take().expect("an open transaction");
        let written = end::write(&mut writer, head);
        match written.and_then(|()| writer.commit()) {
            Ok(()) => {
                self.ended(head);
                freed.iter().for_each(Session::password_has_changed);
            }
            Err(error) => self.failed(&error),
        }
    }

    fn abort(&mut self) {
        self.open = None;
    }

    fn apply(&mut self, batch: &Batch, head: Head) -> Result<(), Divergence> {
        assert!(self.open.is_none(), "a follower has no transaction");
        match self.try_apply(batch, head) {
            Ok(()) => self.ended(head),
            Err(Unapplied::Store(error)) => self.failed(&error),
            Err(differs) => {
                let position = batch.position;
                let text = format!("batch {position} of the cluster does not fit: {differs}");
                self.warnings.push(text);
                return Err(Divergence::Entry(position));
            }
        }
        Ok(())
    }

    fn maintain(&mut self, now_ms: u64) {
        if self.has_failed {
            let retry_ms = *self.retry_ms.get_or_insert(now_ms + RETRY_MS);
            self.has_failed = now_ms < retry_ms;
        }
        self.checkpoint_if_due(now_ms);
    }
}
