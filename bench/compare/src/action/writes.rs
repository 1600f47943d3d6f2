//! Workloads of one writer on a store that has records.

use super::done::{Done, digest_of, random_numbers};
use crate::measure::{Stopwatch, bench_measured};
use crate::store::{Store, Writer};
use crate::workload::Workload;
use crate::workload::data::{Values, key, scattered};

pub(super) fn overwrite<S: Store>(
    store: &S,
    workload: &Workload,
    seed: u64,
) -> anyhow::Result<Done> {
    let numbers: Vec<u64> = random_numbers(workload.operations, workload.records, seed).collect();
    let mut watch = Stopwatch::new(workload.latencies);
    let (result, taken) = bench_measured(|| {
        let mut values = Values::new(workload.value_bytes);
        for batch in numbers.chunks(usize::try_from(workload.batch)?) {
            watch.time(|| put_all(store, batch, &mut values, seed))?;
        }
        anyhow::Ok(())
    });
    result?;
    Ok(Done {
        watch,
        ..Done::new(workload.operations, taken, digest_of(store)?)
    })
}

/// Stores a batch in one transaction.
pub(super) fn put_all<S: Store>(
    store: &S,
    numbers: &[u64],
    values: &mut Values,
    generation: u64,
) -> anyhow::Result<()> {
    store.write(|writer| {
        for &number in numbers {
            writer.put(&key(number), values.of(number, generation))?;
        }
        Ok(())
    })
}

pub(super) fn delete<S: Store>(store: &S, workload: &Workload) -> anyhow::Result<Done> {
    let numbers: Vec<u64> = (0..workload.operations)
        .map(|at| scattered(at, workload.records))
        .collect();
    let (result, taken) = bench_measured(|| {
        for batch in numbers.chunks(usize::try_from(workload.batch)?) {
            store.write(|writer| {
                batch
                    .iter()
                    .try_for_each(|&number| writer.delete(&key(number)))
            })?;
        }
        anyhow::Ok(())
    });
    result?;
    Ok(Done::new(workload.operations, taken, digest_of(store)?))
}

/// A queue in random order: its length stays, and so should the file's.
pub(super) fn churn<S: Store>(store: &S, workload: &Workload) -> anyhow::Result<Done> {
    let records = workload.records;
    let (result, taken) = bench_measured(|| {
        let mut values = Values::new(workload.value_bytes);
        let batch = usize::try_from(workload.batch)?;
        for first in (0..workload.operations).step_by(batch) {
            store.write(|writer| {
                for at in first..(first + workload.batch).min(workload.operations) {
                    let (lap, position) = (at / records, at % records);
                    let number = scattered(position, records);
                    writer.delete(&key(lap * records + number))?;
                    let new = (lap + 1) * records + number;
                    writer.put(&key(new), values.of(new, 0))?;
                }
                Ok(())
            })?;
        }
        anyhow::Ok(())
    });
    result?;
    Ok(Done::new(workload.operations, taken, digest_of(store)?))
}
