//! The actions of workloads, for any store. A process plays one of them once and reports its cost.
//!
//! ```text
//!   open -> get ready (unmeasured) -> the measured work -> look at what is left (unmeasured) -> close
//! ```

mod concurrent;
mod fill;
mod reads;
mod space;
pub(crate) mod trace;
mod writes;

use std::path::PathBuf;

use crate::measure::{Outcome, Stopwatch, Taken};
use crate::store::{Reader as _, Setup, Store};
use crate::workload::data::fold;
use crate::workload::{Action, Workload};

/// One part to be played in a new process.
#[derive(Debug)]
pub(crate) struct Child<'w> {
    pub(crate) workload: &'w Workload,
    pub(crate) setup: Setup,
    /// Of random choices; the same for all engines of a round.
    pub(crate) seed: u64,
    /// True to make the workload's first content instead.
    pub(crate) prepare: bool,
    /// True for two threads that read, with marks between.
    pub(crate) trace: bool,
    /// An empty folder for copies.
    pub(crate) copy: PathBuf,
}

/// The result of a workload.
pub(super) struct Done {
    operations: u64,
    taken: Taken,
    digest: u64,
    watch: Stopwatch,
    beside: u64,
}

impl Done {
    fn new(operations: u64, taken: Taken, digest: u64) -> Self {
        Done {
            operations,
            taken,
            digest,
            watch: Stopwatch::new(false),
            beside: 0,
        }
    }
}

impl Child<'_> {
    /// Plays the part with a kind of store.
    pub(crate) fn play<S: Store>(&self) -> anyhow::Result<Outcome> {
        let store = S::open(&self.setup)?;
        let done = if self.prepare {
            fill::prepare(&store, self.workload)?
        } else if self.trace {
            trace::run(&store, self.workload)?
        } else {
            self.act(&store)?
        };
        let version = store.version();
        drop(store);
        Ok(Outcome {
            operations: done.operations,
            wall_ns: done.taken.wall_ns,
            cpu_ns: done.taken.cpu_ns,
            digest: done.digest,
            latencies: done.watch.latencies(),
            beside: done.beside,
            file_bytes: 0,
            errors: 0,
            wrong: 0,
            version,
        })
    }

    fn act<S: Store>(&self, store: &S) -> anyhow::Result<Done> {
        let (workload, seed) = (self.workload, self.seed);
        match workload.action {
            Action::ReadForward => reads::forward(store, workload),
            Action::ReadBackward => reads::backward(store, workload),
            Action::ReadRandom => reads::random(store, workload, seed),
            Action::ReadMissing => reads::missing(store, workload, seed),
            Action::ReadMany => reads::many(store, workload, seed),
            Action::ReadRange(records) => reads::ranges(store, workload, seed, records),
            Action::Begin => reads::begin(store, workload),
            Action::Renew => reads::renew(store, workload),
            Action::FillForward | Action::FillScattered | Action::Append => {
                fill::measured(store, workload)
            }
            Action::Overwrite => writes::overwrite(store, workload, seed),
            Action::Delete => writes::delete(store, workload),
            Action::Churn => writes::churn(store, workload),
            Action::Submit => concurrent::submit(store, workload, seed),
            Action::ReadBesideWriter => concurrent::read_beside_writer(store, workload, seed),
            Action::Copy => space::copy(store, &self.setup, &self.copy),
            Action::OverwriteAfterReader => space::after_reader(store, workload, seed),
            Action::FillFragmented => space::fragmented(store, workload),
        }
    }
}

/// A digest of all records, in order.
fn digest_of<S: Store>(store: &S) -> anyhow::Result<u64> {
    let mut digest = 0;
    store.reader()?.scan(None, u64::MAX, |key, value| {
        digest = fold(fold(digest, key), value);
    })?;
    Ok(digest)
}

/// The keys that an operation after the other is about, made beforehand so that making them is not
/// measured.
fn random_keys(operations: u64, records: u64, seed: u64) -> Vec<[u8; 16]> {
    random_numbers(operations, records, seed)
        .map(crate::workload::data::key)
        .collect()
}

fn random_numbers(operations: u64, records: u64, seed: u64) -> impl Iterator<Item = u64> {
    use crate::workload::data::mix;
    (0..operations).map(move |operation| mix(operation ^ mix(seed)) % records)
}
