//! The result of a workload, and the parts that several workloads share.

use crate::measure::{Stopwatch, Taken};
use crate::store::{Reader as _, Store};
use crate::workload::data::fold;

/// The result of a workload.
pub(super) struct Done {
    pub(super) operations: u64,
    pub(super) taken: Taken,
    pub(super) digest: u64,
    pub(super) watch: Stopwatch,
    pub(super) concurrent: u64,
}

impl Done {
    pub(super) fn new(operations: u64, taken: Taken, digest: u64) -> Self {
        Done {
            operations,
            taken,
            digest,
            watch: Stopwatch::new(false),
            concurrent: 0,
        }
    }
}

/// A digest of all records, in order.
pub(super) fn digest_of<S: Store>(store: &S) -> anyhow::Result<u64> {
    let mut digest = 0;
    store.reader()?.scan(None, u64::MAX, |key, value| {
        digest = fold(fold(digest, key), value);
    })?;
    Ok(digest)
}

/// The keys that an operation after the other is about, made beforehand so that making them is not
/// measured.
pub(super) fn random_keys(operations: u64, records: u64, seed: u64) -> Vec<[u8; 16]> {
    random_numbers(operations, records, seed)
        .map(crate::workload::data::key)
        .collect()
}

pub(super) fn random_numbers(
    operations: u64,
    records: u64,
    seed: u64,
) -> impl Iterator<Item = u64> {
    use crate::workload::data::mix;
    (0..operations).map(move |operation| mix(operation ^ mix(seed)) % records)
}
