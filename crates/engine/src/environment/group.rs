//! Group commit: changes of several threads in one transaction, with one pair of flushes for all of
//! them.
//!
//! ```text
//!   thread 1  submit --- leads: runs 1, commits ----------------> returns
//!   thread 2      submit --- waits ------------ leads: runs 2, 3, 4, commits ---> returns
//!   thread 3        submit --- waits ---------------------------------------> returns
//!   thread 4          submit --- waits -------------------------------------> returns
//! ```
//!
//! There is no thread for this work: one of the waiting threads leads. The leader takes all
//! submissions and runs them in their order. Each runs in a nested transaction, which can be undone
//! alone. The leader commits once. Later submissions go into the next commit.
//!
//! Only threads with work to do are woken. Each sleeps at its own waiter until its piece is settled
//! or it becomes the leader. A leader that waits for others wakes when the last of them has come.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::{Error, WriteTxn};

/// Time that a leader waits for one more thread, as long as fewer have come than last time. A flush
/// takes longer.
const GATHERING: Duration = Duration::from_micros(300);

/// Submissions to an environment that are not committed yet.
#[derive(Debug, Default)]
pub(crate) struct Group {
    queue: Mutex<Queue>,
    /// As many have submitted as a leader waits for.
    pub(super) complete: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) waiting: Vec<Submission>,
    /// Another process leads, or was outcome_for_one to.
    pub(super) has_leader: bool,
    pub(super) is_gathering: bool,
    /// How many pieces were committed together last.
    pub(super) usual: usize,
}

/// A piece that another process waits for.
#[derive(Debug)]
pub(super) struct Submission {
    pub(super) piece: NonNull<dyn Piece>,
    pub(super) waiter: Arc<CommitWaiter>,
}

/// Where a submitter sleeps.
#[derive(Debug)]
pub(super) struct CommitWaiter {
    pub(super) word: AtomicU8,
    pub(super) thread: Thread,
}

impl CommitWaiter {
    pub(super) const WAITS: u8 = 0;
    /// There is no leader any more: this thread leads next.
    pub(super) const LEADS: u8 = 1;
    /// Its piece is settled; no other thread touches it again.
    pub(super) const SETTLED: u8 = 2;

    pub(super) fn new() -> Self {
        CommitWaiter {
            word: AtomicU8::new(Self::WAITS),
            thread: thread::current(),
        }
    }

    /// Sleeps until there is something to do.
    pub(super) fn wait(&self) -> u8 {
        loop {
            let word = self.word.load(Ordering::Acquire);
            if word != Self::WAITS {
                return word;
            }
            thread::park();
        }
    }

    pub(super) fn signal(&self, word: u8) {
        self.word.store(word, Ordering::Release);
    }
}

// SAFETY: `Environment::submit` requires `Send` of the closure, its value and its error, which are
// all that a piece has. The piece stays where it is until it is settled, because its submitter
// waits.
unsafe impl Send for Submission {}

/// One thread's changes, of any result type.
pub(super) trait Piece {
    /// Makes the changes; whether they are to stay.
    fn run(&mut self, txn: &mut WriteTxn<'_>) -> bool;
    /// Says whether they are committed.
    fn settle(&mut self, committed: Result<(), Error>);
}

impl Group {
    pub(super) fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for as many submitters as last time, but not for absent ones.
    pub(super) fn gather<'g>(&'g self, mut queue: MutexGuard<'g, Queue>) -> MutexGuard<'g, Queue> {
        queue.is_gathering = true;
        while queue.waiting.len() < queue.usual {
            let came = queue.waiting.len();
            let (woken, waited) = self
                .complete
                .wait_timeout(queue, GATHERING)
                .unwrap_or_else(PoisonError::into_inner);
            queue = woken;
            if waited.timed_out() && queue.waiting.len() == came {
                break;
            }
        }
        queue.is_gathering = false;
        queue
    }
}
