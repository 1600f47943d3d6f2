//! Workloads about pages: copied, kept back by a reader, free in the wrong sizes.

use std::path::Path;
use std::sync::Barrier;
use std::thread;

use anyhow::anyhow;

use super::done::{Done, digest_of, random_numbers};
use super::writes;
use crate::measure::{Stopwatch, bench_measured};
use crate::store::{Setup, Store, Writer};
use crate::workload::Workload;
use crate::workload::data::{Values, key};

/// The whole store, copied; what the copy holds is looked at.
pub(super) fn copy<S: Store>(store: &S, setup: &Setup, to: &Path) -> anyhow::Result<Done> {
    digest_of(store)?;
    let (result, taken) = bench_measured(|| store.copy_to(to));
    result?;
    let copied = S::open(&Setup {
        folder: to.to_owned(),
        library: setup.library.clone(),
        ..*setup
    })?;
    Ok(Done::new(1, taken, digest_of(&copied)?))
}

/// Overwrites while a reader keeps every page of the past, unmeasured; then, without it, some more.
pub(super) fn after_reader<S: Store>(
    store: &S,
    workload: &Workload,
    seed: u64,
) -> anyhow::Result<Done> {
    let mut values = Values::new(workload.value_bytes);
    let numbers: Vec<u64> = random_numbers(workload.records / 2, workload.records, !seed).collect();
    let (begun, ended) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        // In a separate thread: some libraries allow a thread only one transaction.
        let reader = scope.spawn(|| {
            let reader = store.reader();
            begun.wait();
            ended.wait();
            reader.map(drop)
        });
        begun.wait();
        let written = numbers
            .chunks(1000)
            .try_for_each(|batch| writes::put_all(store, batch, &mut values, 1));
        ended.wait();
        reader
            .join()
            .map_err(|_| anyhow!("the reader panicked"))??;
        written
    })?;
    let numbers: Vec<u64> = random_numbers(workload.operations, workload.records, seed).collect();
    let mut watch = Stopwatch::new(workload.latencies);
    let (result, taken) = bench_measured(|| {
        for batch in numbers.chunks(usize::try_from(workload.batch)?) {
            watch.time(|| writes::put_all(store, batch, &mut values, seed))?;
        }
        anyhow::Ok(())
    });
    result?;
    Ok(Done {
        watch,
        ..Done::new(workload.operations, taken, digest_of(store)?)
    })
}

/// Records of one page each, of which every second goes again: then values that need many pages in
/// a row.
pub(super) fn fragmented<S: Store>(store: &S, workload: &Workload) -> anyhow::Result<Done> {
    let small = workload.records * 80;
    leave_single_pages(store, small)?;
    let mut values = Values::new(workload.value_bytes);
    let mut watch = Stopwatch::new(workload.latencies);
    let (result, taken) = bench_measured(|| {
        for first in (0..workload.operations).step_by(usize::try_from(workload.batch)?) {
            let last = (first + workload.batch).min(workload.operations);
            let numbers: Vec<u64> = (first..last).map(|number| small + number).collect();
            watch.time(|| writes::put_all(store, &numbers, &mut values, 0))?;
        }
        anyhow::Ok(())
    });
    result?;
    Ok(Done {
        watch,
        ..Done::new(workload.operations, taken, digest_of(store)?)
    })
}

fn leave_single_pages<S: Store>(store: &S, records: u64) -> anyhow::Result<()> {
    let mut values = Values::new(3000);
    let numbers: Vec<u64> = (0..records).collect();
    for batch in numbers.chunks(1000) {
        writes::put_all(store, batch, &mut values, 0)?;
    }
    for batch in numbers.chunks(1000) {
        store.write(|writer| {
            batch
                .iter()
                .step_by(2)
                .try_for_each(|&number| writer.delete(&key(number)))
        })?;
    }
    Ok(())
}
