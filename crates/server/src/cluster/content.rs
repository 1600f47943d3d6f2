//! The database of a node, on the newest directory.

use std::borrow::Cow;
use std::path::PathBuf;

use fulgurite_cluster::{Batch, Content, Csn, Divergence, Effects, Head, Position, Time};
use fulgurite_directory::{
    CheckpointRule, Directory, OrderedReply, StoreContent, Unsuitable, WriteRequest,
};

use super::update::{ClusterAnswer, ClusterUpdate};
use crate::replication::directory_source::DirectorySource;

/// The database of a node. Between two batches it moves on to the newest directory.
pub(super) struct LiveContent<'l, S> {
    source: &'l S,
    folder: PathBuf,
    directory: &'l Directory,
    content: StoreContent<'l>,
    rule: CheckpointRule,
    /// True while a transaction is open, whose updates the log decides about.
    is_open: bool,
}

impl<'l, S: DirectorySource> LiveContent<'l, S> {
    /// Returns the content of the database in a folder.
    ///
    /// # Errors
    /// [`Unsuitable`].
    pub(super) fn open(
        source: &'l S,
        folder: PathBuf,
        rule: CheckpointRule,
    ) -> Result<LiveContent<'l, S>, Unsuitable> {
        let directory = source.newest();
        let database = directory.database_at(&folder).ok_or(Unsuitable::NoMember)?;
        Ok(LiveContent {
            content: StoreContent::open(directory, database)?.with_checkpoints(rule),
            rule,
            source,
            folder,
            directory,
            is_open: false,
        })
    }

    /// Moves on to the newest directory.
    fn renew(&mut self) {
        let newest = self.source.newest();
        if self.is_open || std::ptr::eq(newest, self.directory) {
            return;
        }
        let Some(database) = newest.database_at(&self.folder) else {
            return;
        };
        match StoreContent::open(newest, database) {
            Ok(content) => {
                self.content = content.with_checkpoints(self.rule);
                self.directory = newest;
            }
            Err(error) => tracing::error!("cluster: the new settings are not used: {error}"),
        }
    }

    fn warn(&mut self) {
        for warning in self.content.take_warnings() {
            tracing::error!("cluster: {warning}");
        }
    }
}

impl<S: DirectorySource> Content for LiveContent<'_, S> {
    type Update = ClusterUpdate;
    type Answer = ClusterAnswer;

    fn head(&self) -> Head {
        self.content.head()
    }

    fn durable(&self) -> Position {
        self.content.durable()
    }

    fn is_writable(&self) -> bool {
        self.content.is_writable()
    }

    fn begin(
        &mut self,
        updates: &[&ClusterUpdate],
        last: Csn,
        time: Time,
    ) -> Effects<ClusterAnswer> {
        self.renew();
        let schema = self.directory.schema();
        let read: Vec<Option<Cow<'_, WriteRequest>>> = updates
            .iter()
            .map(|update| update.request(schema).ok())
            .collect();
        let requests: Vec<&WriteRequest> = read.iter().flatten().map(Cow::as_ref).collect();
        let effects = self.content.begin(&requests, last, time);
        self.is_open = true;
        self.warn();
        let mut answers = effects.answers.into_iter();
        let answers = read.iter().map(|request| {
            let Some(request) = request else {
                return ClusterAnswer::Unread;
            };
            let reply = answers.next().expect("each request has an answer");
            ClusterAnswer::Reply(Box::new(OrderedReply::new(reply, request)))
        });
        Effects {
            answers: answers.collect(),
            records: effects.records,
        }
    }

    fn code(answer: &ClusterAnswer) -> u32 {
        answer.code()
    }

    fn commit(&mut self, head: Head) {
        self.content.commit(head);
        self.is_open = false;
        self.warn();
    }

    fn abort(&mut self) {
        self.content.abort();
        self.is_open = false;
    }

    fn apply(&mut self, batch: &Batch, head: Head) -> Result<(), Divergence> {
        self.renew();
        let applied = self.content.apply(batch, head);
        self.warn();
        applied
    }

    fn maintain(&mut self, now_ms: u64) {
        self.content.maintain(now_ms);
        self.warn();
    }
}
