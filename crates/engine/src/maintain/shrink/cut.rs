//! The end of the file: lowering the last page, cutting the file off, and holes where it keeps its
//! length.

use alloc::vec::Vec;
use core::time::Duration;

use fulgurite_format::{Malformed, Pgno, Txnid};
use fulgurite_os::OtherMaps;

use super::compaction::{CompactStep, Compaction, Stage};
use crate::boxed_error::BoxedError;
use crate::reader::may_be_reused;
use crate::tree::{self, LeafStep, PagesMut, Path};
use crate::{Environment, Error, WriteTxn};

/// Pages that one commit takes off the end.
const TAIL_MAX: u64 = 1 << 18;
/// Attempts to wait for a process that is opening the environment, and the pause between them.
const OPENING_ATTEMPTS: u32 = 200;
const OPENING_PAUSE: Duration = Duration::from_millis(5);
/// Free pages inside the file that one step turns into holes.
const PUNCH_MAX: usize = 1 << 14;

impl Compaction {
    /// Commits a lower last page, if there are free pages at the end.
    pub(super) fn lower(&mut self, environment: &Environment) -> Result<CompactStep, BoxedError> {
        let mut txn = environment.write()?;
        let page_size = environment.handle().mapping().page_size() as u64;
        let spare = match self.until_bytes {
            u64::MAX => u64::MAX,
            until => (txn.pages.last.0 + 1).saturating_sub(until / page_size),
        };
        let tail = txn.pages.free_tail(TAIL_MAX.min(spare))?;
        if tail.pages == 0 && self.is_rotated {
            self.stage = Stage::CutOff;
            return Ok(CompactStep::Working);
        }
        if tail.pages == 0 {
            // The pages freed by the last transaction become usable after one more.
            self.is_rotated = true;
            txn.pages.force_commit();
            txn.commit()?;
            self.report.commits += 1;
            return Ok(CompactStep::Working);
        }
        txn.pages.cut(&tail)?;
        let id = txn.id();
        txn.commit()?;
        self.report.commits += 1;
        self.lowered_by = Some(id);
        Ok(CompactStep::Working)
    }

    /// Gives the bytes after the last page back to the file system.
    pub(super) fn cut_off(&mut self, environment: &Environment) -> Result<CompactStep, BoxedError> {
        let mut txn = environment.write()?;
        let mapping = environment.handle().mapping();
        let end = (txn.pages.last.0 + 1) * mapping.page_size() as u64;
        let len = mapping.refresh_len()?;
        if len <= end {
            self.end_round();
            return Ok(CompactStep::Working);
        }
        // The snapshot of an older reader includes pages after the new last page. The reader does
        // not reach them, but a copy of its snapshot would read them.
        let oldest = txn.pages.oldest()?;
        let newest = Txnid(txn.id().0 - 1);
        if oldest < self.lowered_by.unwrap_or(newest) {
            return Ok(CompactStep::Waiting(oldest));
        }
        // Without this, a power loss could restore a snapshot that reaches beyond the new end.
        environment.handle().before_change()?;
        environment.handle().close_window();
        environment.handle().flush(true)?;
        self.report.kept_length = None;
        match writable(environment)? {
            OtherMaps::ReadOnly => {
                mapping.file().resize(end).map_err(CUTTING)?;
                let kept = undo_if_opened(environment, len).inspect_err(|_| {
                    // It is now unknown which processes map the file. The first error matters more.
                    let _ = mapping.file().grow_to(len);
                });
                self.report.kept_length = kept?;
            }
            OtherMaps::Writable { pid, .. } | OtherMaps::Unknown(pid) => {
                self.report.kept_length = Some(pid);
                mapping
                    .file()
                    .punch(end, len - end)
                    .map_err(Error::io("making a hole of the data file's end"))?;
                self.report.bytes_punched += len - end;
            }
        }
        mapping.refresh_len()?;
        self.end_round();
        Ok(CompactStep::Working)
    }

    fn end_round(&mut self) {
        self.lowered_by = None;
        self.stage = match self.until_bytes {
            // The stop request covers moving only; holes may still be made.
            u64::MAX if self.punch => Stage::Punch(Txnid(0), 0),
            u64::MAX => Stage::Done,
            _ => Stage::Plan,
        };
    }

    /// Makes holes of free pages that no snapshot reaches, from number `skip` of record `from` of
    /// the free list on.
    pub(super) fn punch(
        &mut self,
        environment: &Environment,
        from: Txnid,
        skip: usize,
    ) -> Result<CompactStep, BoxedError> {
        let mut txn = environment.write()?;
        let free = free_for_all(&mut txn, from, skip)?;
        // Without this, a power loss could restore a snapshot that still uses these pages.
        environment.handle().before_change()?;
        environment.handle().close_window();
        environment.handle().flush(true)?;
        let page_size = environment.handle().mapping().page_size() as u64;
        let len = environment.handle().mapping().refresh_len()?;
        for run in free.pages.chunk_by(|high, low| high.0 == low.0 + 1) {
            let (Some(high), Some(low)) = (run.first(), run.last()) else {
                continue;
            };
            let start = low.0 * page_size;
            let end = ((high.0 + 1) * page_size).min(len);
            if start < end {
                let file = environment.handle().mapping().file();
                file.punch(start, end - start)
                    .map_err(Error::io("making holes of free pages"))?;
                self.report.bytes_punched += end - start;
            }
        }
        self.stage = match free.next {
            Some((id, skip)) => Stage::Punch(id, skip),
            None => Stage::Done,
        };
        Ok(CompactStep::Working)
    }
}

/// Makes the error for a file whose length could not be changed.
const CUTTING: fn(fulgurite_os::platform::io::Error) -> Error = |source| Error::Io {
    doing: "cutting the data file off",
    source,
};

/// Finds out whether a process changes the file through a map, this process included.
///
/// The caller holds the writer mutex, so no process stores through such a map meanwhile.
fn writable(environment: &Environment) -> Result<OtherMaps, BoxedError> {
    let mapping = environment.handle().mapping();
    if environment.handle().has_writable_map() {
        return Ok(OtherMaps::Writable {
            pid: fulgurite_os::process_id(),
            bytes: mapping.map().len() as u64,
        });
    }
    let Some(lock) = environment.handle().lock() else {
        // Without locking, the caller of the library keeps all other processes away.
        return Ok(OtherMaps::ReadOnly);
    };
    let data = mapping.file().pages().identity();
    data.and_then(|data| fulgurite_os::other_maps(lock.identity()?, data))
        .map_err(Error::io("asking who has the data file mapped"))
}

/// Restores the length if another process was opening the environment when the file was cut off.
/// Returns that process.
///
/// A process that opens it with a writable map first takes its lock on the lock file. Then it
/// extends the file to the length of the map and maps it. So this waits for processes that have the
/// lock and no map yet.
fn undo_if_opened(environment: &Environment, len: u64) -> Result<Option<u32>, BoxedError> {
    let grow = |len| {
        environment
            .handle()
            .mapping()
            .file()
            .grow_to(len)
            .map_err(CUTTING)
    };
    for attempt in 1.. {
        match writable(environment)? {
            OtherMaps::ReadOnly => break,
            OtherMaps::Writable { pid, bytes } => {
                grow(len.max(bytes))?;
                return Ok(Some(pid));
            }
            OtherMaps::Unknown(pid) if attempt == OPENING_ATTEMPTS => {
                grow(len.max(environment.handle().map_size()))?;
                return Ok(Some(pid));
            }
            OtherMaps::Unknown(_) => fulgurite_os::platform::thread::sleep(OPENING_PAUSE),
        }
    }
    Ok(None)
}

/// Free pages that no snapshot reaches, descending within each record of the free list.
#[derive(Debug, Default)]
struct FreeForAll {
    pages: Vec<Pgno>,
    /// The record to continue with, and the number of its pages that are done.
    next: Option<(Txnid, usize)>,
}

/// Lists some free pages that no snapshot reaches, from a position on.
fn free_for_all(
    txn: &mut WriteTxn<'_>,
    from: Txnid,
    mut skip: usize,
) -> Result<FreeForAll, BoxedError> {
    let oldest = txn.pages.oldest()?;
    let free = txn.pages.free;
    let view = txn.pages.view();
    let mut path = Path::new();
    let mut listed = FreeForAll::default();
    let mut before = None;
    tree::seek(view, &free, &from.0.to_ne_bytes(), &mut path)?;
    let mut found = tree::settle(view, &free, &mut path)?;
    while let Some(leaf) = path.leaf().filter(|_| found) {
        let (id, record) = txn.pages.record_at(leaf)?;
        if !may_be_reused(id, oldest) {
            break;
        }
        if before.replace(id).is_some_and(|before| before >= id) {
            return Err(Error::at(leaf.pgno)(Malformed::KeyOrder));
        }
        if id != from {
            skip = 0;
        }
        let room = PUNCH_MAX - listed.pages.len();
        listed.pages.extend(record.iter().skip(skip).take(room));
        if listed.pages.len() == PUNCH_MAX {
            listed.next = Some((id, skip + room));
            break;
        }
        found = tree::next(view, &free, &mut path)? != LeafStep::AtEnd;
    }
    Ok(listed)
}
