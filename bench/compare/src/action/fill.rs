//! Stores that get their first records.

use super::done::{Done, digest_of};
use crate::measure::{Stopwatch, bench_measured};
use crate::store::{Store, Writer};
use crate::workload::data::{Values, key, scattered};
use crate::workload::{Action, VALUES_EACH, Workload};

/// In which order records come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Ascending,
    /// Ascending, and the store knows it.
    Appended,
    Scattered,
}

/// The first content of a workload: records stored in random order, as in practice.
pub(super) fn prepare<S: Store>(store: &S, workload: &Workload) -> anyhow::Result<Done> {
    let (result, taken) = bench_measured(|| {
        fill(
            store,
            workload,
            Order::Scattered,
            1000,
            &mut Stopwatch::new(false),
        )
    });
    result?;
    store.settle()?;
    Ok(Done::new(workload.records, taken, digest_of(store)?))
}

pub(super) fn measured<S: Store>(store: &S, workload: &Workload) -> anyhow::Result<Done> {
    let order = match workload.action {
        Action::Append => Order::Appended,
        Action::FillScattered => Order::Scattered,
        _ => Order::Ascending,
    };
    let mut watch = Stopwatch::new(workload.latencies);
    let (result, taken) =
        bench_measured(|| fill(store, workload, order, workload.batch, &mut watch));
    result?;
    Ok(Done {
        watch,
        ..Done::new(workload.records, taken, digest_of(store)?)
    })
}

fn fill<S: Store>(
    store: &S,
    workload: &Workload,
    order: Order,
    batch: u64,
    watch: &mut Stopwatch,
) -> anyhow::Result<()> {
    let mut values = Values::new(workload.value_bytes);
    let count = workload.records;
    let each = if workload.has_duplicates() {
        VALUES_EACH
    } else {
        1
    };
    for first in (0..count).step_by(usize::try_from(batch)?) {
        let last = count.min(first + batch);
        watch.time(|| {
            store.write(|writer| {
                for position in first..last {
                    let number = match order {
                        Order::Scattered => scattered(position, count),
                        Order::Ascending | Order::Appended => position,
                    };
                    let key = key(number / each);
                    let value = values.of(number, 0);
                    match order {
                        Order::Appended => writer.append(&key, value)?,
                        _ => writer.put(&key, value)?,
                    }
                }
                Ok(())
            })
        })?;
    }
    Ok(())
}
