//! The actions of workloads, for any store. A process plays one of them once and reports its cost.
//!
//! ```text
//!   open -> get ready (unmeasured) -> the measured work -> look at what is left (unmeasured) -> close
//! ```

mod concurrent;
mod done;
mod fill;
mod reads;
mod space;
pub(crate) mod trace;
mod writes;

use std::path::PathBuf;

use crate::measure::Outcome;
use crate::store::{Job, Setup, Store};
use crate::workload::{Action, Workload};
use done::Done;

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

impl Job for Child<'_> {
    type Output = Outcome;

    /// Plays the part with a kind of store.
    fn run<S: Store>(&self) -> anyhow::Result<Outcome> {
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
            beside: done.concurrent,
            file_bytes: 0,
            errors: 0,
            wrong: 0,
            version,
        })
    }
}

impl Child<'_> {
    fn act<S: Store>(&self, store: &S) -> anyhow::Result<Done> {
        let (workload, seed) = (self.workload, self.seed);
        match workload.action {
            Action::ReadForward => reads::forward(store, workload),
            Action::ReadKeys => reads::keys(store, workload),
            Action::ReadWhole => reads::whole(store, workload),
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
