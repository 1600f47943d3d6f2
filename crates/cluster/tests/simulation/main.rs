//! The cluster in one thread: nodes, wires and a model of etcd, from a seed.
//!
//! ```text
//!   clients --> node (loop of the crate, store)  --- cuts, delays, losses --- node
//!                 |  questions, repeated and late      ^
//!                 v                                      | answers, or silence
//!               etcd: revisions, leases, quota, stalls --'
//! ```
//!
//! A node is the loop of the crate, over the model of a store in `cluster-testkit`.
//!
//! Messages between nodes are those of a stream: they come once, or not. A question to the log may
//! come twice, late, and after its answer was given up.
//!
//! ```sh
//! FULGURITE_TEST_SEED=4711 cargo test -p fulgurite-cluster --test simulation     # one seed
//! FULGURITE_TEST_RUNS=10000 cargo test -p fulgurite-cluster --test simulation    # many
//! ```

#![forbid(unsafe_code)]

mod etcd;
mod mutant;
mod world;

/// The store of the nodes, and its checker. The tests of `directory` run this world on real stores.
mod model {
    pub(crate) use fulgurite_cluster_testkit::{Checker, Store, Update, check_requests};
}

use crate::mutant::Mutant;
use crate::world::{Faults, World};

/// Runs of the short form.
const RUNS: u64 = 60;
/// Runs in which a broken rule has to be noticed.
const RUNS_OF_MUTANT: u64 = 100;
/// Simulated seconds of a run.
const SECONDS: u64 = 100;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} must be a number")),
    )
}

#[test]
fn the_cluster_keeps_its_promises() {
    let first = number("FULGURITE_TEST_SEED");
    let runs = number("FULGURITE_TEST_RUNS").unwrap_or(if first.is_some() { 1 } else { RUNS });
    let first = first.unwrap_or(1);
    let mut failed = Vec::new();
    let mut faults = Faults::new();
    let (mut done, mut refused, mut unknown, mut served) = (0, 0, 0, 0);
    for seed in first..first + runs {
        let mut world = World::new(seed, SECONDS, None);
        if let Err(text) = world.run() {
            println!("FULGURITE_TEST_SEED={seed}: {text}");
            failed.push(seed);
        }
        done += world.checker.done;
        refused += world.checker.refused;
        unknown += world.checker.unknown;
        served += world.checker.served;
        for (name, count) in world.faults {
            *faults.entry(name).or_default() += count;
        }
    }
    println!("{runs} runs: {done} updates, {refused} refusals, {unknown} unknown, {served} reads");
    println!("{faults:?}");
    assert!(failed.is_empty(), "{} of {runs}: {failed:?}", failed.len());
    assert!(
        done > 0 && refused > 0 && served > 0,
        "the cluster does nothing"
    );
}

#[test]
fn broken_rules_are_noticed() {
    for mutant in Mutant::ALL {
        let run = |seed: &u64| World::new(*seed, SECONDS, Some(mutant)).run();
        let found = (1..=RUNS_OF_MUTANT).find_map(|seed| Some((seed, run(&seed).err()?)));
        println!("{mutant:?}: {found:?}");
        assert!(found.is_some(), "{mutant:?} goes unnoticed");
    }
}
