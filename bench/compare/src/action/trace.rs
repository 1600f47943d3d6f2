//! Two threads that read in turn, with marks between. So a trace of all loads and stores shows the
//! thread of each.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

use anyhow::anyhow;

use super::done::{Done, random_keys};
use super::reads;
use crate::measure::Taken;
use crate::store::{Reader as _, Store};
use crate::workload::Workload;

/// Transactions of each thread between the marks, and lookups in each.
pub(crate) const TRANSACTIONS: u64 = 100;
pub(crate) const LOOKUPS: u64 = 10;

/// A mark is this many consecutive changes of a one-byte word.
pub(crate) const MARK_CHANGES: u32 = 8;

static MARK: AtomicU8 = AtomicU8::new(0);

#[inline(never)]
fn mark() {
    // Written one by one: the counter of a loop might be in memory, and change memory besides the
    // mark.
    MARK.fetch_add(1, Ordering::Relaxed);
    MARK.fetch_add(1, Ordering::Relaxed);
    MARK.fetch_add(1, Ordering::Relaxed);
    MARK.fetch_add(1, Ordering::Relaxed);
    MARK.fetch_add(1, Ordering::Relaxed);
    MARK.fetch_add(1, Ordering::Relaxed);
    MARK.fetch_add(1, Ordering::Relaxed);
    MARK.fetch_add(1, Ordering::Relaxed);
}

/// Both threads read, then one does between two marks, then the other one.
pub(super) fn run<S: Store>(store: &S, workload: &Workload) -> anyhow::Result<Done> {
    let (first_done, second_ready) = (Barrier::new(2), Barrier::new(2));
    let digest = thread::scope(|scope| {
        let first = scope.spawn(|| {
            let keys = random_keys(TRANSACTIONS * LOOKUPS, workload.records, 1);
            part_ways(store, &second_ready)?;
            transactions(store, &keys)?;
            second_ready.wait();
            mark();
            let digest = transactions(store, &keys);
            mark();
            // It stays until the other one has ended, so that nothing of its is taken over.
            first_done.wait();
            first_done.wait();
            digest
        });
        let second = scope.spawn(|| {
            let keys = random_keys(TRANSACTIONS * LOOKUPS, workload.records, 2);
            part_ways(store, &second_ready)?;
            transactions(store, &keys)?;
            second_ready.wait();
            first_done.wait();
            mark();
            let digest = transactions(store, &keys);
            mark();
            first_done.wait();
            digest
        });
        let first = first.join().map_err(|_| anyhow!("a reader panicked"))??;
        let second = second.join().map_err(|_| anyhow!("a reader panicked"))??;
        anyhow::Ok(first.wrapping_add(second))
    })?;
    let taken = Taken {
        wall_ns: 0,
        cpu_ns: 0,
    };
    Ok(Done::new(2 * TRANSACTIONS * LOOKUPS, taken, digest))
}

/// Both threads hold a snapshot at once, as concurrent readers soon do. From then on each has its
/// slot and its cache. Threads that read in turn only may have used the same slot one after the
/// other.
fn part_ways<S: Store>(store: &S, both: &Barrier) -> anyhow::Result<()> {
    let held = store.reader();
    both.wait();
    held.map(drop)
}

fn transactions<S: Store>(store: &S, keys: &[[u8; 16]]) -> anyhow::Result<u64> {
    let mut digest = 0_u64;
    for keys in keys.chunks(usize::try_from(LOOKUPS)?) {
        digest = digest.wrapping_add(reads::look_up(store, keys)?);
    }
    // Snapshots that are renewed, too, where the engine has such.
    let mut reader = store.reader()?;
    for _ in 0..TRANSACTIONS {
        reader.renew()?;
    }
    Ok(digest)
}
