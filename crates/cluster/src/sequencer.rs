//! The sequencer: one batch at a time, whose outcome is known before the next one begins.
//!
//! ```text
//!            begin                appended, or found in the log
//!   idle ------------> appending ------------------------------> Commit -> idle
//!                       |  ^   '--- another batch is there -----> Abort  -> deposed
//!               unknown |  | absent
//!                       v  |
//!                      looking --- the position is trimmed -----> Lost   -> deposed
//! ```
//!
//! A second append is safe: the log takes one batch for a position, and only of the leader. So a
//! late first try fails its comparison.

use crate::batch::{BATCH_BYTES_MAX, Batch, Record, RequestMark, TooLong, digest};
use crate::log::{AppendOutcome, ReadOutcome, Refusal};
use crate::values::{BatchId, Epoch, Head, NodeId, Position};

/// The next step of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Todo {
    /// Append the [batch](Sequencer::batch).
    Append,
    /// Read the log at the position of the batch.
    Look,
    /// Commit the transaction of the store with this end, then answer.
    Commit(Head),
    /// Abort the transaction: nothing was done, for certain. Another node leads.
    Abort,
    /// Abort the transaction: the log is full, and nothing was done. The node still leads.
    Full,
    /// Abort the transaction and take a snapshot. The outcome stays unknown, because others have
    /// trimmed the position.
    Lost,
}

/// The content of a batch that begins.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The version of its format.
    pub version: u16,
    /// The requests of other nodes that it settles.
    pub requests: Vec<RequestMark>,
    /// The changes.
    pub records: Vec<Record>,
    /// True if it has one update, and so may be long.
    pub is_single: bool,
}

/// A batch whose outcome is not known.
#[derive(Clone, Debug)]
struct Work {
    bytes: Vec<u8>,
    id: BatchId,
    after: Head,
    begun_ms: u64,
    /// True if an earlier try may still be taken, or was.
    may_be_taken: bool,
}

/// The sequencer of one database under one leadership.
#[derive(Clone, Debug)]
pub struct Sequencer {
    node: NodeId,
    epoch: Epoch,
    head: Head,
    work: Option<Work>,
    is_deposed: bool,
}

impl Sequencer {
    /// Returns the sequencer of a leadership. The node has applied the log up to its end, which
    /// it read after it won.
    #[must_use]
    pub fn new(node: NodeId, epoch: Epoch, head: Head) -> Sequencer {
        Sequencer {
            node,
            epoch,
            head,
            work: None,
            is_deposed: false,
        }
    }

    /// Returns the leadership.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Returns the end of the log.
    #[must_use]
    pub fn head(&self) -> Head {
        self.head
    }

    /// Returns true if a batch may begin.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.work.is_none() && !self.is_deposed
    }

    /// Returns true if another node leads.
    #[must_use]
    pub fn is_deposed(&self) -> bool {
        self.is_deposed
    }

    /// Begins a batch, whose next step is [`Todo::Append`].
    ///
    /// # Errors
    /// [`TooLong`]; the sequencer is idle as before.
    ///
    /// # Panics
    /// If it is not idle.
    pub fn begin(&mut self, draft: Draft, id: BatchId, now_ms: u64) -> Result<Todo, TooLong> {
        assert!(self.is_idle(), "one batch at a time");
        let batch = Batch {
            version: draft.version,
            position: self.head.position.next(),
            epoch: self.epoch,
            node: self.node,
            id,
            previous: self.head.digest,
            requests: draft.requests,
            records: draft.records,
        };
        let bytes = batch.encode()?;
        if !draft.is_single && bytes.len() > BATCH_BYTES_MAX {
            return Err(TooLong::Batch { bytes: bytes.len() });
        }
        self.work = Some(Work {
            id,
            after: batch.head(&self.head, digest(&bytes)),
            bytes,
            begun_ms: now_ms,
            may_be_taken: false,
        });
        Ok(Todo::Append)
    }

    /// Returns the bytes of the batch, the end behind it and its name; `None` if idle.
    #[must_use]
    pub fn batch(&self) -> Option<(&[u8], &Head, BatchId)> {
        let work = self.work.as_ref()?;
        Some((&work.bytes, &work.after, work.id))
    }

    /// Returns true if the outcome is unknown for longer than `wait_ms`.
    #[must_use]
    pub fn is_overdue(&self, now_ms: u64, wait_ms: u64) -> bool {
        let work = self.work.as_ref();
        work.is_some_and(|work| now_ms >= work.begun_ms + wait_ms)
    }

    /// Takes the outcome of an append.
    pub fn appended(&mut self, outcome: &AppendOutcome) -> Todo {
        let work = self.work.as_mut().expect("a batch was appended");
        match outcome {
            AppendOutcome::Appended => self.commit(),
            AppendOutcome::Unknown => {
                work.may_be_taken = true;
                Todo::Look
            }
            // The full log refuses this try only.
            AppendOutcome::Full if work.may_be_taken => Todo::Look,
            AppendOutcome::Full => self.give_up(Todo::Full),
            AppendOutcome::Refused(Refusal { end, present, .. }) => match present {
                Some(present) => self.compare(present),
                None => self.refused(*end),
            },
        }
    }

    /// Takes the outcome of a read at the position of the batch.
    pub fn looked(&mut self, outcome: &ReadOutcome) -> Todo {
        let position = self.position();
        match outcome {
            ReadOutcome::Unavailable => Todo::Look,
            ReadOutcome::Trimmed { .. } => self.give_up(Todo::Lost),
            ReadOutcome::Batches(batches) => match batches.first() {
                Some((at, bytes)) if *at == position => self.compare(bytes),
                Some(_) => self.give_up(Todo::Lost),
                None => Todo::Append,
            },
        }
    }

    /// Ends the leadership of an idle sequencer.
    pub fn depose(&mut self) {
        assert!(self.work.is_none(), "the outcome comes first");
        self.is_deposed = true;
    }

    fn position(&self) -> Position {
        self.head.position.next()
    }

    fn commit(&mut self) -> Todo {
        let work = self.work.take().expect("a batch was appended");
        self.head = work.after;
        Todo::Commit(work.after)
    }

    fn compare(&mut self, present: &[u8]) -> Todo {
        let own = self.work.as_ref().map(|work| work.bytes.as_slice());
        match own == Some(present) {
            true => self.commit(),
            false => self.give_up(Todo::Abort),
        }
    }

    /// Decides about a refusal without a batch at the position. If the log goes beyond it, the
    /// batch there was trimmed, and an earlier try may have been that batch.
    fn refused(&mut self, end: Position) -> Todo {
        let may_be_taken = self.work.as_ref().is_some_and(|work| work.may_be_taken);
        match may_be_taken && end >= self.position() {
            true => self.give_up(Todo::Lost),
            false => self.give_up(Todo::Abort),
        }
    }

    fn give_up(&mut self, todo: Todo) -> Todo {
        self.work = None;
        self.is_deposed = todo != Todo::Full;
        todo
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{RecordKind, VERSION_NEWEST};
    use crate::values::Csn;

    fn begun() -> (Sequencer, Vec<u8>, Head) {
        let mut sequencer = Sequencer::new(NodeId(1), Epoch(5), Head::default());
        let mut csn = [0; Csn::LEN];
        csn[9] = 1;
        let record = Record {
            kind: RecordKind::Delete,
            csn: Csn::from_bytes(csn).expect("decimal digits"),
            previous: None,
            uuid: [1; 16],
            parent: None,
            is_unordered: false,
            begun_us: 0,
            took_us: 0,
            session: 0,
            author: String::new(),
            dn: "cn=a".to_owned(),
            renaming: None,
            operations: vec![],
        };
        let draft = Draft {
            version: VERSION_NEWEST,
            requests: vec![],
            records: vec![record],
            is_single: true,
        };
        let todo = sequencer.begin(draft, BatchId([1; 16]), 100);
        assert_eq!(todo, Ok(Todo::Append));
        let (bytes, after, _) = sequencer.batch().expect("a batch");
        let (bytes, after) = (bytes.to_vec(), *after);
        (sequencer, bytes, after)
    }

    fn refused(end: u64, present: Option<&[u8]>) -> AppendOutcome {
        AppendOutcome::Refused(Refusal {
            leader: Some(Epoch(9)),
            end: Position(end),
            present: present.map(<[u8]>::to_vec),
        })
    }

    #[test]
    fn an_append_is_committed() {
        let (mut sequencer, _, after) = begun();
        assert!(!sequencer.is_idle() && sequencer.is_overdue(110, 10));
        let todo = sequencer.appended(&AppendOutcome::Appended);
        assert_eq!(todo, Todo::Commit(after));
        assert!(sequencer.is_idle() && sequencer.head() == after);
    }

    #[test]
    fn an_unknown_outcome_is_read_and_never_guessed() {
        let (mut sequencer, bytes, after) = begun();
        assert_eq!(sequencer.appended(&AppendOutcome::Unknown), Todo::Look);
        assert_eq!(sequencer.looked(&ReadOutcome::Unavailable), Todo::Look);
        let absent = ReadOutcome::Batches(vec![]);
        assert_eq!(sequencer.looked(&absent), Todo::Append);
        let mut other = sequencer.clone();
        // The late first try was taken.
        assert_eq!(
            sequencer.appended(&refused(1, Some(&bytes))),
            Todo::Commit(after)
        );
        // Another node was faster.
        assert_eq!(other.appended(&refused(1, Some(b"other"))), Todo::Abort);
        assert!(other.is_deposed() && !other.is_idle());
    }

    #[test]
    fn a_trimmed_position_leaves_the_outcome_unknown() {
        let (mut sequencer, ..) = begun();
        // The only try was refused: nothing was done.
        assert_eq!(sequencer.clone().appended(&refused(9, None)), Todo::Abort);
        sequencer.appended(&AppendOutcome::Unknown);
        assert_eq!(sequencer.clone().appended(&refused(0, None)), Todo::Abort);
        assert_eq!(sequencer.clone().appended(&refused(9, None)), Todo::Lost);
        let first = Position(7);
        assert_eq!(
            sequencer.looked(&ReadOutcome::Trimmed { first }),
            Todo::Lost
        );
    }

    #[test]
    fn a_full_log_refuses_the_first_try_only() {
        let (mut sequencer, ..) = begun();
        let mut first = sequencer.clone();
        assert_eq!(first.appended(&AppendOutcome::Full), Todo::Full);
        assert!(first.is_idle());
        // The try before may still come.
        sequencer.appended(&AppendOutcome::Unknown);
        assert_eq!(sequencer.appended(&AppendOutcome::Full), Todo::Look);
    }
}
