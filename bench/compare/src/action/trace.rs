//! Two threads that read, one after the other, with marks between: so that whoever writes down all
//! stores and loads of this process can tell whose they are.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

use anyhow::anyhow;

use super::{Done, random_keys, reads};
use crate::measure::Taken;
use crate::store::{Reader as _, Store};
use crate::workload::Workload;

/// Transactions of each thread between the marks, and lookups in each.
pub(crate) const TRANSACTIONS: u64 = 100;
pub(crate) const LOOKUPS: u64 = 10;

/// So many changes in a row of a word of one octet are a mark.
pub(crate) const MARK_CHANGES: u32 = 8;

static MARK: AtomicU8 = AtomicU8::new(0);

#[inline(never)]
fn mark() {
    // One by one: a loop's counter might be in memory, and a change of memory beside the mark.
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

/// Both threads hold a snapshot at once, as readers that run beside each other soon do: from then
/// on each has what it needs for itself. Threads that read in turn only may have used the same slot
/// one after the other.
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
