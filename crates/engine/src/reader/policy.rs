//! A writer's policy for readers of old snapshots: the program's choice.

use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use crate::reader_info::{LongReader, Reader};

/// The policy of a writer that would have to let the file grow because a reader keeps an old
/// snapshot. Pages that were freed since then cannot be reused. Without a policy the file grows.
///
/// A reader is long if it exceeds any limit that is set. Without limits, every reader that holds
/// pages back is long. The steps are taken in this order: the hook is called, the reader is asked
/// to end, growth is refused. See [`crate::OpenOptions::reader_policy`].
///
/// ```
/// # use std::time::Duration;
/// # use fulgurite::{Environment, ReaderPolicy};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// let policy = ReaderPolicy::new()
///     .age_max(Duration::from_secs(60))
///     .held_pages_max(100_000)
///     .warn(|long| eprintln!("process {} holds {} pages", long.reader.pid, long.held_pages))
///     .end_oldest(Duration::from_millis(100));
/// let environment = Environment::options().reader_policy(policy).open(directory.path())?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct ReaderPolicy {
    pub(super) lag_max: Option<u64>,
    pub(super) age_max: Option<Duration>,
    pub(super) held_pages_max: Option<u64>,
    pub(super) warn: Option<Arc<Warn>>,
    pub(super) end_oldest: Option<Duration>,
    pub(super) refuse_growth: bool,
}

/// A hook that is called for a long reader.
pub(super) type Warn = dyn Fn(&LongReader) + Send + Sync;

impl fmt::Debug for ReaderPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReaderPolicy")
            .field("lag_max", &self.lag_max)
            .field("age_max", &self.age_max)
            .field("held_pages_max", &self.held_pages_max)
            .field("warns", &self.warn.is_some())
            .field("end_oldest", &self.end_oldest)
            .field("refuse_growth", &self.refuse_growth)
            .finish()
    }
}

impl ReaderPolicy {
    /// A policy without limits that does nothing yet.
    #[must_use]
    pub fn new() -> ReaderPolicy {
        ReaderPolicy::default()
    }

    /// A reader is long when more transactions than this were committed since its snapshot.
    #[must_use]
    pub fn lag_max(mut self, transactions: u64) -> Self {
        self.lag_max = Some(transactions);
        self
    }

    /// A reader is long when it has had its snapshot for more than this. Readers that use the
    /// original library record no time; they have no age.
    #[must_use]
    pub fn age_max(mut self, age: Duration) -> Self {
        self.age_max = Some(age);
        self
    }

    /// A reader is long when it holds back more pages than this. Finding that out has a price each
    /// time the writer looks at the readers. It reads one record of the free list for each
    /// transaction since the reader's snapshot.
    #[must_use]
    pub fn held_pages_max(mut self, pages: u64) -> Self {
        self.held_pages_max = Some(pages);
        self
    }

    /// Tells the program of a long reader, once for each snapshot that it keeps. The hook runs
    /// within the writer's operation: it must not write to the environment, and others wait for it.
    #[must_use]
    pub fn warn(mut self, hook: impl Fn(&LongReader) + Send + Sync + 'static) -> Self {
        self.warn = Some(Arc::new(hook));
        self
    }

    /// Asks the long readers of the oldest snapshot to end. Their next operation fails with
    /// [`crate::Error::ReaderEnded`], in any process. Until they end their transaction, nothing
    /// changes for them: borrowed data stay valid.
    ///
    /// The writer waits at most `grace`, once for each snapshot, while it holds the writer's lock.
    /// Then it goes on: it uses the pages, or continues as without this option. Readers that use
    /// the original library cannot be asked.
    #[must_use]
    pub fn end_oldest(mut self, grace: Duration) -> Self {
        self.end_oldest = Some(grace);
        self
    }

    /// Lets the write operation fail with [`crate::Error::HeldByReader`] instead of letting the
    /// file grow. Like every error of the file that ends the transaction. Transactions that find
    /// free pages enough still succeed.
    #[must_use]
    pub fn refuse_growth(mut self) -> Self {
        self.refuse_growth = true;
        self
    }

    /// The same but for refusals.
    pub(crate) fn without_refusal(&self) -> ReaderPolicy {
        ReaderPolicy {
            refuse_growth: false,
            ..self.clone()
        }
    }

    /// Returns true if the policy would do anything.
    pub(super) const fn is_idle(&self) -> bool {
        self.warn.is_none() && self.end_oldest.is_none() && !self.refuse_growth
    }

    /// Returns true if a reader is beyond a limit. It asks for the number of held pages only if
    /// that decides.
    pub(super) fn is_long<E>(
        &self,
        reader: &Reader,
        held_pages: impl FnOnce() -> Result<u64, E>,
    ) -> Result<bool, E> {
        let unlimited =
            self.lag_max.is_none() && self.age_max.is_none() && self.held_pages_max.is_none();
        let lags = self.lag_max.is_some_and(|max| reader.lag > max);
        let is_old = matches!((self.age_max, reader.age), (Some(max), Some(age)) if age > max);
        if unlimited || lags || is_old {
            return Ok(true);
        }
        match self.held_pages_max {
            Some(max) => Ok(held_pages()? > max),
            None => Ok(false),
        }
    }
}
