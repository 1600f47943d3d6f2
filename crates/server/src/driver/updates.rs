//! The updates of a round of turns, and the choice of the thread that applies them.
//!
//! ```text
//!   turns of a round ---> updates, by database ---+---> the worker itself    few, short, nothing to wait for
//!                                                 \---> their writer         all others, or while it is busy
//! ```
//!
//! An update that a worker applies costs no switch of threads. While other connections want turns,
//! they get [`OTHERS_SHARE`] times as long as the updates took before the worker applies more.
//! Updates that wait for a disk go to a writer, so that searches continue.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::inbox::Response;
use super::writer::{QueuedUpdate, WriterHandle};
use super::writers::Writers;
use crate::session::handler::Handler;

/// The maximum of updates that a worker applies in one round. More of them go to the writers.
const AT_ONCE_MAX: usize = 64;

/// The time of other connections for each unit of time that updates take, in tenths. So updates get
/// at most two sevenths of a busy worker. Turns would be no measure: one may take a hundred times
/// as long as another.
const OTHERS_SHARE: u32 = 25;

/// The time of other connections at most.
const SHARED_MAX: Duration = Duration::from_millis(20);

pub(super) struct Updates<'s, U> {
    writers: Arc<Writers<'s, U>>,
    /// By the number of the writer.
    by_writer: FxHashMap<usize, UpdatesOfWriter<U>>,
    /// The number of updates.
    len: usize,
    /// The end of the time that belongs to other connections. None if a writer took the last ones.
    others_until: Option<Instant>,
}

struct UpdatesOfWriter<U> {
    queued: Vec<QueuedUpdate<U>>,
    writer: WriterHandle<U>,
    /// True if the writer was idle when it was asked.
    was_idle: bool,
}

impl<'s, U> Updates<'s, U> {
    pub(super) fn new(writers: Arc<Writers<'s, U>>) -> Updates<'s, U> {
        Updates {
            writers,
            by_writer: FxHashMap::default(),
            len: 0,
            others_until: None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns true if updates are due at the end of a round with `turns_of_others` turns of other
    /// connections. They wait until the others have had their share or want none.
    pub(super) fn are_due(
        &mut self,
        turns_of_others: usize,
        now: impl FnOnce() -> Instant,
    ) -> bool {
        if turns_of_others == 0 {
            self.others_until = None;
        }
        if self.is_empty() {
            return false;
        }
        let many = self.len > AT_ONCE_MAX;
        many || self.others_until.is_none_or(|until| now() >= until)
    }

    /// Returns true if updates need not wait for the end of the round, because the others have had
    /// their share. So their clients can send the next ones while the rest of the round is served.
    /// Updates that go to a writer wait, as it should get all of a round together.
    pub(super) fn are_due_within_round(&self, now: impl FnOnce() -> Instant) -> bool {
        !self.is_empty() && self.others_until.is_some_and(|until| now() >= until)
    }

    /// Queues an update of the writer with this number.
    pub(super) fn push(&mut self, writer: usize, queued: QueuedUpdate<U>) {
        let updates = self.by_writer.entry(writer);
        let updates = updates.or_insert_with(|| UpdatesOfWriter {
            queued: Vec::new(),
            writer: self.writers.handle(writer),
            was_idle: false,
        });
        updates.queued.push(queued);
        self.len += 1;
    }

    /// Asks each writer if it is idle.
    pub(super) fn ask_writers(&mut self) {
        for updates in self.by_writer.values_mut() {
            updates.was_idle = updates.writer.is_idle();
        }
    }

    /// Applies all updates and returns their responses, or hands them to their writers, which
    /// answer through the inbox. Updates of a writer keep their order: unless it [was
    /// idle](Self::ask_writers), it gets the later ones too.
    pub(super) fn apply<H: Handler<Update = U>>(&mut self, handler: &H) -> Vec<Response> {
        let are_few = self.len <= AT_ONCE_MAX;
        let mut responses = Vec::new();
        let begun = Instant::now();
        for updates in self.by_writer.values_mut() {
            let queued = &mut updates.queued;
            queued.retain(|queued| !queued.origin.token.is_withdrawn());
            if are_few && updates.was_idle {
                updates.apply_at_once(handler, &mut responses);
            }
            updates.hand_over();
        }
        self.len = 0;
        self.others_until = (!responses.is_empty()).then(|| {
            let ended = Instant::now();
            ended + share_of_others(ended - begun)
        });
        responses
    }

    /// Hands all updates to their writers.
    pub(super) fn hand_over(&mut self) {
        self.by_writer
            .values_mut()
            .for_each(UpdatesOfWriter::hand_over);
        self.len = 0;
    }
}

/// Returns the time of other connections for updates that took this long. A pause of the machine
/// counts as little more than a slow update.
fn share_of_others(took: Duration) -> Duration {
    (took.min(SHARED_MAX) * OTHERS_SHARE / 10).min(SHARED_MAX)
}

impl<U> UpdatesOfWriter<U> {
    /// Applies the updates and appends their responses. They stay queued if the handler cannot.
    fn apply_at_once<H: Handler<Update = U>>(
        &mut self,
        handler: &H,
        responses: &mut Vec<Response>,
    ) {
        if self.queued.is_empty() {
            return;
        }
        let queued = self.queued.drain(..);
        let (origins, updates): (Vec<_>, Vec<_>) =
            queued.map(|queued| (queued.origin, queued.update)).unzip();
        let Some(encoded) = handler.apply_at_once(&updates) else {
            let unchanged = origins.into_iter().zip(updates);
            self.queued
                .extend(unchanged.map(|(origin, update)| QueuedUpdate { origin, update }));
            return;
        };
        debug_assert_eq!(encoded.len(), origins.len(), "one response per update");
        let answered = origins.iter().zip(encoded);
        responses.extend(answered.map(|(origin, bytes)| origin.response(bytes)));
    }

    /// Hands the updates to the writer.
    fn hand_over(&mut self) {
        let queued = self.queued.drain(..);
        queued.for_each(|queued| self.writer.send(queued));
    }
}

#[cfg(test)]
mod tests {
    use super::super::writer::{self, tests::queued};
    use super::*;

    #[test]
    fn other_connections_get_their_time_between_updates() {
        let writers = Writers::new(Box::new(|_| Ok(writer::queue().0)));
        let mut updates = Updates::new(Arc::new(writers.expect("it starts no thread")));
        let now = Instant::now();
        assert!(!updates.are_due(1, || now), "there are none");
        updates.push(0, queued(1));
        assert!(updates.are_due(1, || now), "nothing was applied before");
        let owed = share_of_others(Duration::from_micros(40));
        assert_eq!(owed, Duration::from_micros(100));
        let moment = Duration::from_micros(1);
        assert!(
            !updates.are_due_within_round(|| now),
            "it is not known who applies them"
        );
        updates.others_until = Some(now + owed);
        assert!(!updates.are_due(1, || now + owed - moment));
        assert!(!updates.are_due_within_round(|| now + owed - moment));
        assert!(updates.are_due_within_round(|| now + owed));
        assert!(updates.are_due(1, || now + owed));
        assert!(updates.are_due(0, || now), "nobody else is served");
        assert!(updates.are_due(1, || now), "they wanted no more");
        updates.others_until = Some(now + owed);
        (0..AT_ONCE_MAX as u32).for_each(|id| updates.push(0, queued(id)));
        assert!(updates.are_due(1, || now), "the writer takes so many");
    }
}
