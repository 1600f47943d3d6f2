//! From sorted postings to the index tree: threads make chunks, one appends them.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::chunks::{ChunkSink, Ids, Scratch, write_chunks};
use super::error::Failure;
use super::external_sort::{ExternalSort, RowSink};
use super::grams;
use super::posting_buffer::{Head, Listed, PostingBuffer};
use crate::bytes::take;
use crate::error::Damage;
use crate::ids::EntryId;

/// Chunks handed over at once, in octets.
const BLOCK_LEN: usize = 128 << 10;
/// Blocks of one head that may wait to be appended.
const BLOCKS_MAX: usize = 8;

/// The postings of a load.
pub(crate) struct Postings {
    pub(crate) external: ExternalSort<PostingBuffer>,
    /// Whether runs may hold ids of a key that do not follow those of earlier runs.
    mixed: bool,
}

impl Postings {
    pub(crate) fn new(dir: &Path, bytes_max: usize) -> Postings {
        Postings {
            external: ExternalSort::new(dir, bytes_max),
            mixed: false,
        }
    }

    /// Writes a run if memory is over budget, while the postings of a batch have not been added whose entries have some
    /// ids.
    pub(crate) fn relieve_amid_batch(&mut self) -> Result<(), Failure> {
        let runs = self.external.run_count();
        self.external.relieve()?;
        self.mixed |= self.external.run_count() > runs;
        Ok(())
    }
}

/// Gives all chunks with their keys to `put`, in order; so many threads make them. What is to be done before the first one
/// is done by `begin`, while the threads have begun already. Both are given `target`.
pub(crate) fn write_postings<T>(
    postings: Postings,
    threads: usize,
    target: &mut T,
    begin: &mut dyn FnMut(&mut T) -> Result<(), Failure>,
    put: &mut PutChunk<'_, T>,
) -> Result<(), Failure> {
    let mixed = postings.mixed;
    match postings.external.in_memory() {
        Ok(buffer) => write_heads(buffer, threads, target, begin, put),
        Err(external) => {
            begin(target)?;
            let mut put = |key: &[u8], chunk: &[u8]| put(target, key, chunk);
            let mut scratch = Scratch::default();
            external.finish(&mut |posting, segments| match mixed {
                false => write_chunks(posting, Ids::new(segments), &mut scratch, &mut put),
                true => {
                    let ids: Result<Vec<EntryId>, Damage> = Ids::new(segments).collect();
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

/// A head that waits for a thread, and where its blocks go.
type Job = (Head, SyncSender<Result<Block, Failure>>);

/// Postings that have stayed in memory: threads take one head after the other, and what they make of each is appended in
/// the order of heads.
fn write_heads<T>(
    mut buffer: PostingBuffer,
    threads: usize,
    target: &mut T,
    begin: &mut dyn FnMut(&mut T) -> Result<(), Failure>,
    put: &mut PutChunk<'_, T>,
) -> Result<(), Failure> {
    let (mut jobs, mut made): (Vec<Job>, Vec<Receiver<_>>) = (Vec::new(), Vec::new());
    for head in buffer.heads() {
        let (sender, receiver) = sync_channel(BLOCKS_MAX);
        jobs.push((head, sender));
        made.push(receiver);
    }
    let (buffer, jobs) = (&buffer, &Mutex::new(jobs.into_iter()));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(move || {
                // The lock is for taking a job only.
                let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
                while let Some((head, sender)) = next() {
                    if make_blocks(buffer, head, &sender).is_none() {
                        return;
                    }
                }
            });
        }
        // Failing drops the receivers, at which the threads end.
        let made = made;
        begin(target)?;
        for block in made.into_iter().flatten() {
            block?.each(&mut |key, chunk| put(target, key, chunk))?;
        }
        Ok(())
    })
}

/// Makes the chunks of one head; `None` if nobody wants them any more.
fn make_blocks(
    buffer: &PostingBuffer,
    head: Head,
    sender: &SyncSender<Result<Block, Failure>>,
) -> Option<()> {
    let (mut block, mut scratch) = (Block::default(), Scratch::default());
    let mut gone = false;
    let done = buffer.drain_head(head, &mut |posting, listed| {
        if gone {
            return Ok(());
        }
        let sink: &mut ChunkSink<'_> = &mut |key, chunk| {
            block.push(key, chunk);
            if block.octets.len() >= BLOCK_LEN {
                gone = sender.send(Ok(std::mem::take(&mut block))).is_err();
            }
            Ok(())
        };
        match listed {
            Listed::Segments(segments) => {
                write_chunks(posting, Ids::new(segments), &mut scratch, sink)
            }
            Listed::Grams(grams) => {
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
struct Block {
    octets: Vec<u8>,
    /// Lengths of keys and chunks.
    rows: Vec<(usize, usize)>,
}

impl Block {
    fn push(&mut self, key: &[u8], chunk: &[u8]) {
        self.octets.extend_from_slice(key);
        self.octets.extend_from_slice(chunk);
        self.rows.push((key.len(), chunk.len()));
    }

    fn each(&self, put: &mut RowSink<'_>) -> Result<(), Failure> {
        let mut rest = self.octets.as_slice();
        for (key, chunk) in &self.rows {
            let key = take(&mut rest, *key).unwrap_or_default();
            let chunk = take(&mut rest, *chunk).unwrap_or_default();
            put(key, chunk)?;
        }
        Ok(())
    }
}
