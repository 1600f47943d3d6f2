//! The limits of the machine: memory, kernel, disk and sockets, measured without any store.

use std::fs::File;
use std::hint::black_box;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, anyhow};
use fulgurite::{Database, Environment, Snapshot as _};
use serde::{Deserialize, Serialize};

use crate::measure::Middle;
use crate::workload::data::mix;

/// Everything that was measured.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Limits {
    pub(crate) circumstances: Vec<(String, String)>,
    pub(crate) lines: Vec<Limit>,
}

/// One figure.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Limit {
    pub(crate) what: String,
    pub(crate) amount: f64,
    pub(crate) unit: String,
    /// The figures that it bounds.
    pub(crate) bounds: String,
}

/// A line of a processor's cache.
const LINE_BYTES: usize = 64;
const PAGE_BYTES: usize = 4096;
/// About what a store of a million records of 16 and 100 octets takes.
const STORE_BYTES: usize = 160 << 20;

/// Measures all limits. Memory is that of files in one folder, as a store's is; the disk is the
/// other folder's.
/// # Errors
/// Folders that cannot be written, sockets that cannot be had.
pub(crate) fn measure(memory: &Path, disk: &Path) -> anyhow::Result<Vec<Limit>> {
    let mut lines = Vec::new();
    for (bytes, bounds) in [
        (16 << 10, "what the nearest cache has"),
        (512 << 10, "what a core's cache has"),
        (8 << 20, "branches of a store of a million records"),
        (
            STORE_BYTES,
            "a lookup among a million records: three or four of these, one after the other",
        ),
        (1 << 30, "a lookup among ten million"),
    ] {
        lines.push(limit(
            &format!("dependent reads of {}, mapped", size(bytes)),
            latency(memory, bytes)?,
            "ns each",
            bounds,
        ));
    }
    lines.extend(mapped(memory)?);
    lines.push(limit(
        "memory zeroed at its first touch",
        fresh_memory(),
        "ns a page",
        "buffers that are taken anew",
    ));
    lines.push(limit(
        "a system call (getpid)",
        system_call(),
        "ns",
        "small commits, each request of a client",
    ));
    lines.push(limit(
        "the clock read",
        clock(),
        "ns",
        "latencies of single operations",
    ));
    lines.push(limit(
        "add to a word of one's own, two threads",
        adds(true)?,
        "ns each",
        "a reader that shares nothing",
    ));
    lines.push(limit(
        "add to the same word, two threads",
        adds(false)?,
        "ns each",
        "a reader that counts itself in a shared word",
    ));
    let (median, slow) = flush(disk)?;
    lines.push(limit(
        "4 KiB written and fdatasync, median",
        median / 1e3,
        "us",
        "synchronous commits of one thread",
    ));
    lines.push(limit(
        "the same, the slowest of a hundred",
        slow / 1e3,
        "us",
        "their p99",
    ));
    lines.push(limit(
        "round trip over loopback",
        round_trip()? / 1e3,
        "us",
        "a client with one request in flight",
    ));
    Ok(lines)
}

fn limit(what: &str, amount: f64, unit: &str, bounds: &str) -> Limit {
    Limit {
        what: what.to_owned(),
        amount,
        unit: unit.to_owned(),
        bounds: bounds.to_owned(),
    }
}

fn size(bytes: usize) -> String {
    match bytes {
        b if b < 1 << 20 => format!("{} KiB", b >> 10),
        b => format!("{} MiB", b >> 20),
    }
}

/// Returns the least of some trials, in nanoseconds per step, because a limit is sought.
fn least(trials: usize, mut trial: impl FnMut() -> f64) -> f64 {
    (0..trials).map(|_| trial()).fold(f64::INFINITY, f64::min)
}

fn timed(steps: usize, work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_nanos() as f64 / steps as f64
}

/// An environment with one value in one piece, so mapped memory like a store's records.
fn with_memory<T>(
    folder: &Path,
    content: &[u8],
    work: impl FnOnce(&dyn Fn() -> anyhow::Result<Environment>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let folder = tempfile::Builder::new()
        .prefix("limits-")
        .tempdir_in(folder)?;
    let open = || {
        let options = Environment::options()
            .map_size(4 << 30)
            .durability(fulgurite::Durability::NoSync)
            .open(folder.path())?;
        Ok(options)
    };
    {
        let environment: Environment = open()?;
        let mut txn = environment.write()?;
        txn.put(Database::MAIN, b"memory", content)?;
        txn.commit()?;
    }
    work(&open)
}

/// One line leads to the next, all of them in one circle without an order.
fn latency(folder: &Path, bytes: usize) -> anyhow::Result<f64> {
    let lines = bytes / LINE_BYTES;
    let mut order: Vec<u32> = (0..u32::try_from(lines)?).collect();
    // Sattolo's shuffle: a permutation of one cycle.
    for last in (1..lines).rev() {
        order.swap(last, mix(last as u64) as usize % last);
    }
    let mut content = vec![0; bytes];
    for (line, next) in content.chunks_exact_mut(LINE_BYTES).zip(&order) {
        line[..8].copy_from_slice(&u64::from(*next).to_le_bytes());
    }
    with_memory(folder, &content, |open| {
        let environment = open()?;
        let txn = environment.read()?;
        let memory = txn
            .get(Database::MAIN, b"memory")?
            .context("it was stored")?;
        let mut at = 0;
        let steps = 400_000;
        chase(memory, &mut at, lines.min(4_000_000));
        Ok(least(5, || timed(steps, || chase(memory, &mut at, steps))))
    })
}

fn chase(memory: &[u8], at: &mut usize, steps: usize) {
    for _ in 0..steps {
        let line = memory
            .get(*at * LINE_BYTES..)
            .and_then(<[u8]>::first_chunk::<8>);
        *at = u64::from_le_bytes(line.copied().unwrap_or_default()) as usize;
    }
    black_box(*at);
}

/// Measures reads and copies of mapped memory in order, and the first touch of its pages.
fn mapped(folder: &Path) -> anyhow::Result<Vec<Limit>> {
    let content = vec![1; STORE_BYTES];
    with_memory(folder, &content, |open| {
        let environment = open()?;
        let txn = environment.read()?;
        let memory = txn
            .get(Database::MAIN, b"memory")?
            .context("it was stored")?;
        let pages = memory.len() / PAGE_BYTES;
        let fault = timed(pages, || {
            black_box(
                memory
                    .iter()
                    .step_by(PAGE_BYTES)
                    .map(|&octet| u64::from(octet))
                    .sum::<u64>(),
            );
        });
        let gigabytes = |nanoseconds_each: f64| 1.0 / nanoseconds_each;
        let sum = least(5, || {
            timed(memory.len(), || {
                let words = memory.as_chunks::<8>().0.iter();
                black_box(words.fold(0_u64, |sum, word| {
                    sum.wrapping_add(u64::from_le_bytes(*word))
                }));
            })
        });
        let mut target = vec![0; memory.len()];
        let copy = least(5, || {
            timed(memory.len(), || {
                black_box(&mut target).copy_from_slice(black_box(memory))
            })
        });
        Ok(vec![
            limit(
                "mapped memory read in order",
                gigabytes(sum),
                "GB/s",
                "scans and exports",
            ),
            limit(
                "the same copied (memcpy)",
                gigabytes(copy),
                "GB/s",
                "large values, copies of stores",
            ),
            limit(
                "a mapped page touched first",
                fault,
                "ns a page",
                "the first scan after a start",
            ),
        ])
    })
}

fn fresh_memory() -> f64 {
    let bytes = 64 << 20;
    least(5, || {
        let mut memory: Vec<u8> = Vec::with_capacity(bytes);
        timed(bytes / PAGE_BYTES, || memory.resize(bytes, 1))
    })
}

fn system_call() -> f64 {
    least(5, || {
        timed(200_000, || {
            (0..200_000).for_each(|_| _ = black_box(std::process::id()))
        })
    })
}

fn clock() -> f64 {
    least(5, || {
        timed(200_000, || {
            (0..200_000).for_each(|_| _ = black_box(Instant::now()))
        })
    })
}

/// Two threads that add as fast as they can, to separate words or to one.
fn adds(apart: bool) -> anyhow::Result<f64> {
    #[repr(align(128))]
    struct Word(AtomicU64);
    const ADDS: usize = 5_000_000;
    let words = [Word(AtomicU64::new(0)), Word(AtomicU64::new(0))];
    let count = |index: usize| {
        let word = &words[if apart { index } else { 0 }].0;
        timed(ADDS, || {
            (0..ADDS).for_each(|_| _ = word.fetch_add(1, Ordering::Relaxed))
        })
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| count(1));
        let own = count(0);
        let other = other.join().map_err(|_| anyhow!("a thread panicked"))?;
        Ok(f64::midpoint(own, other))
    })
}

/// The median and the slowest, in nanoseconds.
fn flush(folder: &Path) -> anyhow::Result<(f64, f64)> {
    std::fs::create_dir_all(folder)?;
    let folder = tempfile::Builder::new()
        .prefix("limits-")
        .tempdir_in(folder)?;
    let file = File::create(folder.path().join("flushed"))?;
    let page = [1; PAGE_BYTES];
    // There before it is measured, so that the file's length does not change.
    for at in 0..100 {
        file.write_all_at(&page, at * PAGE_BYTES as u64)?;
    }
    file.sync_all()?;
    let mut all = Vec::new();
    for at in 0..100 {
        let begun = Instant::now();
        file.write_all_at(&page, at * PAGE_BYTES as u64)?;
        file.sync_data()?;
        all.push(begun.elapsed().as_nanos() as f64);
    }
    let slow = all.iter().copied().fold(0.0, f64::max);
    let middle = Middle::of(all).context("a hundred were made")?;
    Ok((middle.median, slow))
}

/// A small request and a small answer between two threads.
fn round_trip() -> anyhow::Result<f64> {
    const TRIPS: usize = 5000;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::scope(|scope| {
        let server = scope.spawn(move || -> std::io::Result<()> {
            let (mut stream, _) = listener.accept()?;
            stream.set_nodelay(true)?;
            let mut message = [0; 64];
            while stream.read_exact(&mut message).is_ok() {
                stream.write_all(&message)?;
            }
            Ok(())
        });
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let mut message = [1; 64];
        let mut all = Vec::new();
        for _ in 0..TRIPS {
            let begun = Instant::now();
            stream.write_all(&message)?;
            stream.read_exact(&mut message)?;
            all.push(begun.elapsed().as_nanos() as f64);
        }
        drop(stream);
        server.join().map_err(|_| anyhow!("a thread panicked"))??;
        Ok(Middle::of(all).context("trips were made")?.median)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chase_meets_every_line() {
        let folder = tempfile::tempdir().unwrap();
        let each = latency(folder.path(), 16 << 10).unwrap();
        assert!(each > 0.0 && each.is_finite());
        let (median, slowest) = flush(folder.path()).unwrap();
        assert!(median <= slowest);
    }
}
