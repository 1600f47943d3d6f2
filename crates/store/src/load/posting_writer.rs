//! From sorted postings to the index tree: threads make chunks, one thread appends them.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::error::Failure;
use super::external_sort::{ExternalSort, RowSink};
use super::posting_buffer::{KindPostings, PostingBuffer, PostingIds};
use super::posting_chunks::{ChunkSink, Scratch, SegmentIds, write_chunks};
use crate::bytes::take;
use crate::error::Damage;
use crate::ids::EntryId;
use crate::index::gram_lists as grams;

/// Size of a block of chunks in bytes.
const BLOCK_LEN: usize = 128 << 10;
/// Blocks of one kind that wait to be appended at most.
const BLOCKS_MAX: usize = 8;

/// The postings of a load.
pub(crate) struct Postings {
    pub(crate) external: ExternalSort<PostingBuffer>,
    /// True if a run may contain ids of a key that do not follow the ids of earlier runs.
    mixed: bool,
}

impl Postings {
    pub(crate) fn new(dir: &Path, bytes_max: usize) -> Postings {
        Postings {
            external: ExternalSort::new(dir, bytes_max),
            mixed: false,
        }
    }

    /// Writes a run if memory is over budget, before the postings of a batch have been added.
    /// Entries of that batch may have lower ids than the run.
    pub(crate) fn spill_amid_batch(&mut self) -> Result<(), Failure> {
        let runs = self.external.run_count();
        self.external.spill_if_over_budget()?;
        self.mixed |= self.external.run_count() > runs;
        Ok(())
    }
}

/// Passes all chunks with their keys to `put`, in order; `threads` threads make them. `begin` runs
/// before the first chunk is put, while the threads are working. Both get `target`.
pub(crate) fn write_postings<T>(
    postings: Postings,
    threads: usize,
    target: &mut T,
    begin: &mut dyn FnMut(&mut T) -> Result<(), Failure>,
    put: &mut PutChunk<'_, T>,
) -> Result<(), Failure> {
    let mixed = postings.mixed;
    match postings.external.in_memory() {
        Ok(buffer) => write_kinds(buffer, threads, target, begin, put),
        Err(external) => {
            begin(target)?;
            let mut put = |key: &[u8], chunk: &[u8]| put(target, key, chunk);
            let mut scratch = Scratch::default();
            external.finish(&mut |posting, segments| match mixed {
                false => write_chunks(posting, SegmentIds::new(segments), &mut scratch, &mut put),
                true => {
                    let ids: Result<Vec<EntryId>, Damage> = SegmentIds::new(segments).collect();
                    let mut ids = ids?;
                    ids.sort_unstable();
                    write_chunks(posting, ids.into_iter().map(Ok), &mut scratch, &mut put)
                }
            })
        }
    }
}

/// Appends a chunk with its key to a target.
pub(crate) type PutChunk<'a, T> = dyn FnMut(&mut T, &[u8], &[u8]) -> Result<(), Failure> + 'a;

/// The postings of a kind that wait for a thread, and the channel of their blocks.
type Job = (KindPostings, SyncSender<Result<ChunkBlock, Failure>>);

/// Writes postings that have stayed in memory. Threads take one kind after the other, and their
/// blocks are appended in the order of kinds.
fn write_kinds<T>(
    mut buffer: PostingBuffer,
    threads: usize,
    target: &mut T,
    begin: &mut dyn FnMut(&mut T) -> Result<(), Failure>,
    put: &mut PutChunk<'_, T>,
) -> Result<(), Failure> {
    let (mut jobs, mut made): (Vec<Job>, Vec<Receiver<_>>) = (Vec::new(), Vec::new());
    for kind in buffer.kinds() {
        let (sender, receiver) = sync_channel(BLOCKS_MAX);
        jobs.push((kind, sender));
        made.push(receiver);
    }
    let (buffer, jobs) = (&buffer, &Mutex::new(jobs.into_iter()));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(move || {
                // The lock is held only to take a job.
                let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
                while let Some((kind, sender)) = next() {
                    if make_blocks(buffer, kind, &sender).is_none() {
                        return;
                    }
                }
            });
        }
        // An error drops the receivers, which ends the threads.
        let made = made;
        begin(target)?;
        for block in made.into_iter().flatten() {
            block?.each(&mut |key, chunk| put(target, key, chunk))?;
        }
        Ok(())
    })
}

/// Makes the chunks of one kind; `None` if the receiver is gone.
fn make_blocks(
    buffer: &PostingBuffer,
    kind: KindPostings,
    sender: &SyncSender<Result<ChunkBlock, Failure>>,
) -> Option<()> {
    let (mut block, mut scratch) = (ChunkBlock::default(), Scratch::default());
    let mut gone = false;
    let done = buffer.drain_kind(kind, &mut |posting, listed| {
        if gone {
            return Ok(());
        }
        let sink: &mut ChunkSink<'_> = &mut |key, chunk| {
            block.push(key, chunk);
            if block.bytes.len() >= BLOCK_LEN {
                gone = sender.send(Ok(std::mem::take(&mut block))).is_err();
            }
            Ok(())
        };
        match listed {
            PostingIds::Segments(segments) => {
                write_chunks(posting, SegmentIds::new(segments), &mut scratch, sink)
            }
            PostingIds::Grams(grams) => {
                write_chunks(posting, grams::ids(grams).map(Ok), &mut scratch, sink)
            }
        }
    });
    if gone {
        return None;
    }
    sender.send(done.map(|()| block)).ok()
}

/// Keys and chunks, one behind the other.
#[derive(Default)]
struct ChunkBlock {
    bytes: Vec<u8>,
    /// Lengths of keys and chunks.
    rows: Vec<(usize, usize)>,
}

impl ChunkBlock {
    fn push(&mut self, key: &[u8], chunk: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(chunk);
        self.rows.push((key.len(), chunk.len()));
    }

    fn each(&self, put: &mut RowSink<'_>) -> Result<(), Failure> {
        let mut rest = self.bytes.as_slice();
        for (key, chunk) in &self.rows {
            let key = take(&mut rest, *key).unwrap_or_default();
            let chunk = take(&mut rest, *chunk).unwrap_or_default();
            put(key, chunk)?;
        }
        Ok(())
    }
}
