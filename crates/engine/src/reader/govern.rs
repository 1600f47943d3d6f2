//! A writer that needs a page and finds none because of an old reader consults the policy here.
//!
//! ```text
//!   WriterPages: no page to reuse --> Governor::consult --> warn --> ask to end, wait --> refuse
//!                                          |                              |                  |
//!                                        Grow                         LookAgain        HeldByReader
//! ```

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;
use fulgurite_os::platform::sync::{Mutex, MutexGuard, PoisonError};
use fulgurite_os::platform::thread;
use fulgurite_os::platform::time::Instant;

use fulgurite_format::Txnid;

use super::stamp::ask_to_end;
use super::{LockFile, ReaderPolicy, SlotTable};
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::reader_info::{LongReader, Reader};

/// How often a writer looks whether a reader that it has asked to end has done so.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// The policy of a handle, and the readers it was applied to.
#[derive(Debug, Default)]
pub(crate) struct Governor {
    policy: Mutex<Option<Arc<ReaderPolicy>>>,
    /// Readers, with their snapshots, that the program was told of.
    told: Mutex<Vec<(u32, u64, Txnid)>>,
}

/// A writer's decision before the file grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GrowthDecision {
    /// To let it grow.
    Grow,
    /// To look once more for free pages: a reader has ended.
    LookAgain,
}

impl Governor {
    pub(crate) fn set(&self, policy: Option<ReaderPolicy>) {
        *lock(&self.policy) = policy.filter(|policy| !policy.is_idle()).map(Arc::new);
    }

    pub(crate) fn policy(&self) -> Option<Arc<ReaderPolicy>> {
        lock(&self.policy).clone()
    }

    /// Decides about the readers of snapshot `oldest`, who hold back all pages that the writer
    /// could use. `held_pages` finds out how many they hold back.
    /// # Errors
    /// [`Error::HeldByReader`] if the file is not to grow on their account; that of `held_pages`.
    pub(crate) fn consult(
        &self,
        policy: &ReaderPolicy,
        table: &LockFile,
        oldest: Txnid,
        held_pages: impl Fn() -> Result<u64, BoxedError>,
    ) -> Result<GrowthDecision, BoxedError> {
        let readers = readers_of(table, oldest);
        let mut long = Vec::new();
        for (index, reader) in &readers {
            if policy.is_long(reader, &held_pages)? {
                long.push((*index, *reader));
            }
        }
        let Some((_, first)) = long.first().copied() else {
            return Ok(GrowthDecision::Grow);
        };
        self.warn(policy, &long, &held_pages)?;
        if let Some(grace) = policy.end_oldest
            && has_ended(table, oldest, &long, readers.len(), grace)
        {
            return Ok(GrowthDecision::LookAgain);
        }
        if policy.refuse_growth {
            return Err(Error::HeldByReader(Box::new(LongReader {
                reader: first,
                held_pages: held_pages()?,
            }))
            .into());
        }
        Ok(GrowthDecision::Grow)
    }

    /// Tells the program of those readers that it was not told of yet.
    fn warn(
        &self,
        policy: &ReaderPolicy,
        long: &[(u32, Reader)],
        held_pages: impl Fn() -> Result<u64, BoxedError>,
    ) -> Result<(), BoxedError> {
        let Some(hook) = &policy.warn else {
            return Ok(());
        };
        let mut unknown = Vec::new();
        {
            let mut told = lock(&self.told);
            let is_there = |known: &(u32, u64, Txnid)| {
                let is_it = |reader: &Reader| *known == key_of(reader);
                long.iter().any(|(_, reader)| is_it(reader))
            };
            // Of a snapshot that is not the oldest any more nothing will be told.
            told.retain(is_there);
            for (_, reader) in long {
                if !told.contains(&key_of(reader)) {
                    told.push(key_of(reader));
                    unknown.push(*reader);
                }
            }
        }
        for reader in unknown {
            hook(&LongReader {
                reader,
                held_pages: held_pages()?,
            });
        }
        Ok(())
    }
}

/// Returns the identity of one transaction of a reader.
fn key_of(reader: &Reader) -> (u32, u64, Txnid) {
    let snapshot = reader.snapshot.unwrap_or(Txnid(u64::MAX));
    (reader.pid, reader.thread, snapshot)
}

/// The readers that have a snapshot, with the numbers of their slots.
fn readers_of(table: &LockFile, snapshot: Txnid) -> Vec<(u32, Reader)> {
    let all = (0..table.used_slots()).filter_map(|index| Some((index, table.reader(index)?)));
    // A checkpoint names no thread, and ends in its own time.
    all.filter(|(_, reader)| reader.snapshot == Some(snapshot) && reader.thread != 0)
        .collect()
}

/// Asks readers to end, and waits until their snapshot is released. It does not wait long, and only
/// the first time.
fn has_ended(
    table: &LockFile,
    snapshot: Txnid,
    long: &[(u32, Reader)],
    readers: usize,
    grace: Duration,
) -> bool {
    // A reader that stamps its slot also looks for marks there.
    let ours = long.iter().filter(|(_, reader)| reader.age.is_some());
    let mut asked = 0;
    let mut news = false;
    for (index, reader) in ours {
        asked += 1;
        if !reader.is_asked_to_end {
            news = true;
            ask_to_end(table.end_word(*index), snapshot);
        }
    }
    // As long as one reader keeps the snapshot, it does not help that others release it.
    if !news || asked < readers {
        return readers_of(table, snapshot).is_empty();
    }
    let until = Instant::now() + grace;
    loop {
        if readers_of(table, snapshot).is_empty() {
            return true;
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        thread::sleep(left.min(LOOK_INTERVAL));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
