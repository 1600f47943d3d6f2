//! Workloads of several threads, at least one of which writes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::anyhow;

use super::done::{Done, digest_of, random_keys, random_numbers};
use super::{reads, writes};
use crate::measure::{Stopwatch, bench_measured};
use crate::store::Store;
use crate::workload::Workload;
use crate::workload::data::{Values, key};

/// Readers read what they are to read; meanwhile a writer overwrites as fast as it can.
pub(super) fn read_beside_writer<S: Store>(
    store: &S,
    workload: &Workload,
    seed: u64,
) -> anyhow::Result<Done> {
    digest_of(store)?;
    let each = workload.operations / workload.threads;
    let keys: Vec<_> = (0..workload.threads)
        .map(|thread| random_keys(each, workload.records, seed + thread))
        .collect();
    let readers_left = AtomicU64::new(workload.threads);
    let (results, taken) = bench_measured(|| {
        thread::scope(|scope| {
            let writer = scope.spawn(|| write_until(store, workload, seed, &readers_left));
            let readers: Vec<_> = keys
                .iter()
                .map(|keys| {
                    scope.spawn(|| {
                        // A snapshot for a hundred reads, as a server would take one for each
                        // request.
                        let digest = keys.chunks(100).try_fold(0_u64, |sum, keys| {
                            Ok(sum.wrapping_add(reads::look_up(store, keys)?))
                        });
                        readers_left.fetch_sub(1, Ordering::Relaxed);
                        digest
                    })
                })
                .collect();
            let digests: anyhow::Result<Vec<u64>> = readers
                .into_iter()
                .map(|reader| reader.join().map_err(|_| anyhow!("a reader panicked"))?)
                .collect();
            let written = writer.join().map_err(|_| anyhow!("the writer panicked"))?;
            anyhow::Ok((digests?, written?))
        })
    });
    let (digests, written) = results?;
    let digest = digests.into_iter().fold(0, u64::wrapping_add);
    Ok(Done {
        concurrent: written,
        ..Done::new(each * workload.threads, taken, digest)
    })
}

/// Overwrites in batches while there are readers; tells how many records.
fn write_until<S: Store>(
    store: &S,
    workload: &Workload,
    seed: u64,
    readers_left: &AtomicU64,
) -> anyhow::Result<u64> {
    let mut values = Values::new(workload.value_bytes);
    let mut numbers = random_numbers(u64::MAX, workload.records, !seed);
    let mut written = 0;
    while readers_left.load(Ordering::Relaxed) > 0 {
        let batch: Vec<u64> = numbers
            .by_ref()
            .take(usize::try_from(workload.batch)?)
            .collect();
        writes::put_all(store, &batch, &mut values, written + 1)?;
        written += workload.batch;
    }
    Ok(written)
}

/// Threads that store one record after the other, each waiting for its own to be durable.
pub(super) fn submit<S: Store>(store: &S, workload: &Workload, seed: u64) -> anyhow::Result<Done> {
    let each = workload.operations / workload.threads;
    let (watches, taken) = bench_measured(|| {
        thread::scope(|scope| {
            let threads: Vec<_> = (0..workload.threads)
                .map(|thread| scope.spawn(move || submit_each(store, workload, seed, thread, each)))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().map_err(|_| anyhow!("a writer panicked"))?)
                .collect::<anyhow::Result<Vec<Stopwatch>>>()
        })
    });
    let mut watch = Stopwatch::new(true);
    watches?.into_iter().for_each(|other| watch.merge(other));
    Ok(Done {
        watch,
        ..Done::new(each * workload.threads, taken, digest_of(store)?)
    })
}

fn submit_each<S: Store>(
    store: &S,
    workload: &Workload,
    seed: u64,
    thread: u64,
    operations: u64,
) -> anyhow::Result<Stopwatch> {
    let mut watch = Stopwatch::new(true);
    let mut values = Values::new(workload.value_bytes);
    for number in random_numbers(operations, workload.records, seed + thread) {
        let value = values.of(number, seed);
        watch.time(|| store.submit(&key(number), value))?;
    }
    Ok(watch)
}
