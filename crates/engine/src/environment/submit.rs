//! `Environment::submit`: leading a group of submitters, and settling their pieces.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::sync::{Arc, MutexGuard};

use fulgurite_os::thread_word;

use super::Environment;
use super::group::{CommitWaiter, Piece, Queue, Submission};
use crate::{Error, WriteTxn};

struct SubmittedWork<F, T, E> {
    work: Option<F>,
    done: Option<Result<Result<T, E>, Box<dyn Any + Send>>>,
    committed: Option<Result<(), Error>>,
}

impl<F, T, E> Piece for SubmittedWork<F, T, E>
where
    F: FnOnce(&mut WriteTxn<'_>) -> Result<T, E>,
{
    fn run(&mut self, txn: &mut WriteTxn<'_>) -> bool {
        let Some(work) = self.work.take() else {
            return false;
        };
        let done = catch_unwind(AssertUnwindSafe(|| work(txn)));
        let is_well = matches!(done, Ok(Ok(_)));
        let stays = is_well && !txn.is_failed();
        // An error that the work hid is unknown here.
        self.done = Some(done).filter(|_| stays || !is_well);
        stays
    }

    fn settle(&mut self, committed: Result<(), Error>) {
        self.committed = Some(committed);
    }
}

impl Environment {
    /// Makes changes in a transaction that may be shared with other threads, and returns once it is
    /// committed. The commit is as durable as the environment is. With [`crate::Durability::Full`]
    /// all waiting threads share one pair of flushes. Use it where many threads make small changes
    /// that each must be durable at once.
    ///
    /// `work` sees earlier submissions. It runs once, in this or another thread, while nothing else
    /// writes to the environment. If it returns an error or panics, only its own changes are
    /// undone. The error is returned; the panic continues in this thread. If an error of the engine
    /// ended its part of the transaction and `work` hid it, the result is
    /// [`Error::TransactionFailed`]. If the commit fails, all are outcome_for_one.
    ///
    /// ```
    /// use fulgurite::{Database, Environment, Error, Snapshot};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # let environment = Environment::options().open(directory.path())?;
    /// std::thread::scope(|threads| {
    ///     for name in ["flash", "bolt", "spark"] {
    ///         let environment = &environment;
    ///         threads.spawn(move || {
    ///             environment.submit(|txn| txn.put(Database::MAIN, name.as_bytes(), b"seen")).expect("a commit");
    ///             // It is durable now.
    ///         });
    ///     }
    /// });
    /// assert_eq!(environment.read()?.stat(Database::MAIN)?.entries, 3);
    /// # Ok(())
    /// # }
    /// ```
    /// # Errors
    /// Those of `work`, and of [`Environment::write`] and [`WriteTxn::commit`].
    /// [`Error::WriterBusy`] if this thread has a write transaction, that of `submit` included.
    pub fn submit<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut WriteTxn<'_>) -> Result<T, E> + Send,
        T: Send,
        E: From<Error> + Send,
    {
        if self.handle.writer().is(thread_word()) {
            return Err(Error::WriterBusy.into());
        }
        let mut submitted = SubmittedWork {
            work: Some(work),
            done: None,
            committed: None,
        };
        self.settle(&mut submitted);
        match (submitted.done, submitted.committed) {
            (Some(Err(panic)), _) => resume_unwind(panic),
            (Some(Ok(Err(error))), _) => Err(error),
            (_, Some(Err(error))) => Err(error.into()),
            (Some(Ok(Ok(value))), Some(Ok(()))) => Ok(value),
            _ => Err(Error::TransactionFailed.into()),
        }
    }

    /// How many submissions wait for the commit that is under way: they will be in the next one.
    #[must_use]
    pub fn submissions_waiting(&self) -> usize {
        self.group.queue().waiting.len()
    }

    /// Waits until a piece is settled, by this thread or another.
    fn settle(&self, piece: &mut dyn Piece) {
        // SAFETY: only the lifetime changes. The queue or a leader has the pointer until the piece
        // is settled, and this function does not return before. It does not unwind either:
        // everything that could is caught.
        let piece = unsafe {
            std::mem::transmute::<NonNull<dyn Piece + '_>, NonNull<dyn Piece + 'static>>(
                NonNull::from(piece),
            )
        };
        let waiter = Arc::new(CommitWaiter::new());
        let group = &self.group;
        let mut queue = group.queue();
        queue.waiting.push(Submission {
            piece,
            waiter: Arc::clone(&waiter),
        });
        if queue.has_leader {
            if queue.is_gathering && queue.waiting.len() >= queue.usual {
                group.complete.notify_one();
            }
            drop(queue);
            if waiter.wait() == CommitWaiter::SETTLED {
                return;
            }
            queue = group.queue();
        }
        queue.has_leader = true;
        self.lead(queue, &waiter);
    }

    /// Commits all submissions, this thread's own among them, and makes one of the later submitters
    /// the leader.
    fn lead<'g>(&'g self, queue: MutexGuard<'g, Queue>, own: &Arc<CommitWaiter>) {
        let group = &self.group;
        let mut queue = group.gather(queue);
        let pieces = std::mem::take(&mut queue.waiting);
        queue.usual = pieces.len();
        drop(queue);
        let outcome = catch_unwind(AssertUnwindSafe(|| self.commit_together(&pieces)));
        // After a panic of the engine itself nothing is committed; the cause is unknown here.
        let result = outcome.unwrap_or(Err(Error::TransactionFailed));
        for waiting in &pieces {
            let outcome_for_one = match &result {
                Ok(()) => Ok(()),
                Err(error) => Err(clone_error(error)),
            };
            // SAFETY: the submitter of the piece waits until its waiter is signalled, so the piece
            // is alive. This thread is the only leader, so no other thread touches it.
            unsafe { &mut *waiting.piece.as_ptr() }.settle(outcome_for_one);
        }
        let mut queue = group.queue();
        let next = queue.waiting.first().map(|one| Arc::clone(&one.waiter));
        queue.has_leader = next.is_some();
        drop(queue);
        if let Some(next) = next {
            next.signal(CommitWaiter::LEADS);
            next.thread.unpark();
        }
        for Submission { waiter, .. } in pieces {
            if !Arc::ptr_eq(&waiter, own) {
                waiter.signal(CommitWaiter::SETTLED);
                waiter.thread.unpark();
            }
        }
    }

    /// Runs pieces in one transaction and commits it.
    fn commit_together(&self, pieces: &[Submission]) -> Result<(), Error> {
        let mut txn = self.write()?;
        for waiting in pieces {
            // SAFETY: the submitter of the piece waits until its waiter is signalled, so the piece
            // is alive. This thread is the only leader, so no other thread touches it.
            let piece = unsafe { &mut *waiting.piece.as_ptr() };
            let mut own = txn.nested()?;
            if piece.run(&mut own) {
                own.commit()?;
            }
        }
        txn.commit()
    }
}

/// The same error for another thread.
fn clone_error(error: &Error) -> Error {
    match error {
        Error::Io { doing, source } => Error::Io {
            doing,
            source: match source.raw_os_error() {
                Some(number) => std::io::Error::from_raw_os_error(number),
                None => source.kind().into(),
            },
        },
        Error::Corrupted { page, what } => Error::Corrupted {
            page: *page,
            what: *what,
        },
        Error::BeyondEnd(page) => Error::BeyondEnd(*page),
        Error::MapFull(bytes) => Error::MapFull(*bytes),
        Error::MapResized(bytes) => Error::MapResized(*bytes),
        Error::GrownBeyondBound(bytes) => Error::GrownBeyondBound(*bytes),
        Error::ReadOnly => Error::ReadOnly,
        Error::FlushFailed => Error::FlushFailed,
        Error::EnvironmentFailed => Error::EnvironmentFailed,
        Error::MapLost => Error::MapLost,
        Error::Forked => Error::Forked,
        Error::TxnidsExhausted => Error::TxnidsExhausted,
        Error::LockBroken => Error::LockBroken,
        Error::HeldByReader(reader) => Error::HeldByReader(reader.clone()),
        // A commit returns no errors about arguments.
        _ => Error::TransactionFailed,
    }
}
