//! Workloads that only read.

use std::thread;

use anyhow::ensure;

use super::done::{Done, digest_of, random_keys};
use crate::measure::{Taken, bench_measured};
use crate::store::{Reader as _, Store};
use crate::workload::Workload;
use crate::workload::data::{fold, sum};

pub(super) fn forward<S: Store>(store: &S, workload: &Workload) -> anyhow::Result<Done> {
    digest_of(store)?;
    scans(workload, |digest| {
        store.reader()?.scan(None, u64::MAX, |key, value| {
            *digest = fold(fold(*digest, key), value);
        })
    })
}

pub(super) fn keys<S: Store>(store: &S, workload: &Workload) -> anyhow::Result<Done> {
    digest_of(store)?;
    scans(workload, |digest| {
        store.reader()?.scan(None, u64::MAX, |key, _| {
            *digest = fold(*digest, key);
        })
    })
}

pub(super) fn whole<S: Store>(store: &S, workload: &Workload) -> anyhow::Result<Done> {
    digest_of(store)?;
    scans(workload, |digest| {
        store.reader()?.scan(None, u64::MAX, |key, value| {
            *digest = sum(fold(*digest, key), value);
        })
    })
}

pub(super) fn backward<S: Store>(store: &S, workload: &Workload) -> anyhow::Result<Done> {
    digest_of(store)?;
    scans(workload, |digest| {
        store.reader()?.scan_back(|key, value| {
            *digest = fold(fold(*digest, key), value);
        })
    })
}

/// As many scans as come nearest to the operations that are wanted.
fn scans(
    workload: &Workload,
    mut scan: impl FnMut(&mut u64) -> anyhow::Result<u64>,
) -> anyhow::Result<Done> {
    let mut digest = 0;
    let (seen, taken) = bench_measured(|| {
        let mut seen = 0;
        for _ in 0..(workload.operations / workload.records).max(1) {
            seen += scan(&mut digest)?;
        }
        anyhow::Ok(seen)
    });
    Ok(Done::new(seen?, taken, digest))
}

pub(super) fn random<S: Store>(store: &S, workload: &Workload, seed: u64) -> anyhow::Result<Done> {
    digest_of(store)?;
    let each = workload.operations / workload.threads;
    let keys: Vec<_> = (0..workload.threads)
        .map(|thread| random_keys(each, workload.records, seed + thread))
        .collect();
    let (digests, taken) = match keys.as_slice() {
        [keys] => bench_measured(|| look_up(store, keys).map(|digest| vec![digest])),
        several => in_threads(store, several),
    };
    let digest = digests?.into_iter().fold(0, u64::wrapping_add);
    Ok(Done::new(each * workload.threads, taken, digest))
}

fn in_threads<S: Store>(store: &S, keys: &[Vec<[u8; 16]>]) -> (anyhow::Result<Vec<u64>>, Taken) {
    bench_measured(|| {
        thread::scope(|scope| {
            let threads: Vec<_> = keys
                .iter()
                .map(|keys| scope.spawn(|| look_up(store, keys)))
                .collect();
            threads
                .into_iter()
                .map(|thread| {
                    thread
                        .join()
                        .map_err(|_| anyhow::anyhow!("a reader panicked"))?
                })
                .collect()
        })
    })
}

/// Reads keys that are there; a digest of their values.
pub(super) fn look_up<S: Store>(store: &S, keys: &[[u8; 16]]) -> anyhow::Result<u64> {
    let mut reader = store.reader()?;
    let mut digest = 0;
    for key in keys {
        let found = reader.get(key, |value| digest = fold(digest, value))?;
        ensure!(found, "there is no {}", String::from_utf8_lossy(key));
    }
    Ok(digest)
}

pub(super) fn many<S: Store>(store: &S, workload: &Workload, seed: u64) -> anyhow::Result<Done> {
    digest_of(store)?;
    let keys = random_keys(workload.operations, workload.records, seed);
    let mut digest = 0;
    let (found, taken) = bench_measured(|| {
        store
            .reader()?
            .get_many(&keys, |value| digest = fold(digest, value))
    });
    ensure!(found? == workload.operations, "not all keys were found");
    Ok(Done::new(workload.operations, taken, digest))
}

pub(super) fn missing<S: Store>(store: &S, workload: &Workload, seed: u64) -> anyhow::Result<Done> {
    digest_of(store)?;
    let mut keys = random_keys(workload.operations, workload.records, seed);
    for key in &mut keys {
        // Behind the digits.
        key[15] = b'x';
    }
    let (found, taken) = bench_measured(|| {
        let mut reader = store.reader()?;
        let mut found = 0;
        for key in &keys {
            found += u64::from(reader.get(key, |_| {})?);
        }
        anyhow::Ok(found)
    });
    ensure!(found? == 0, "something was found that is not there");
    Ok(Done::new(workload.operations, taken, 0))
}

pub(super) fn ranges<S: Store>(
    store: &S,
    workload: &Workload,
    seed: u64,
    records: u64,
) -> anyhow::Result<Done> {
    digest_of(store)?;
    let keys = random_keys(workload.operations, workload.records, seed);
    let mut digest = 0;
    let (result, taken) = bench_measured(|| {
        let mut reader = store.reader()?;
        for key in &keys {
            reader.scan(Some(key), records, |key, value| {
                digest = fold(fold(digest, key), value);
            })?;
        }
        anyhow::Ok(())
    });
    result?;
    Ok(Done::new(workload.operations, taken, digest))
}

pub(super) fn begin<S: Store>(store: &S, workload: &Workload) -> anyhow::Result<Done> {
    drop(store.reader()?);
    let (result, taken) = bench_measured(|| {
        for _ in 0..workload.operations {
            drop(store.reader()?);
        }
        anyhow::Ok(())
    });
    result?;
    Ok(Done::new(workload.operations, taken, 0))
}

pub(super) fn renew<S: Store>(store: &S, workload: &Workload) -> anyhow::Result<Done> {
    let mut reader = store.reader()?;
    reader.renew()?;
    let (result, taken) = bench_measured(|| {
        for _ in 0..workload.operations {
            reader.renew()?;
        }
        anyhow::Ok(())
    });
    result?;
    drop(reader);
    Ok(Done::new(workload.operations, taken, digest_of(store)?))
}
