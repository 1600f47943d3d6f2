//! The simulator of `crates/cluster`, with nodes on real stores.
//!
//! World, model of etcd and faults are those of `crates/cluster/tests/simulation`. Only
//! the store is another one. A crash drops the open transaction, as the death of the process does.
//! Each commit is in the files then. A power cut leaves of each sector that was written since the
//! last flush either content. The machine then has another boot id.
//!
//! ```sh
//! FULGURITE_TEST_SEED=4711 cargo test -p fulgurite-directory --test cluster     # one seed
//! FULGURITE_TEST_RUNS=100 cargo test -p fulgurite-directory --test cluster      # many
//! ```

#![forbid(unsafe_code)]

#[path = "../../../cluster-testkit/src/checker.rs"]
#[allow(
    unreachable_pub,
    reason = "it is a library elsewhere, over the model of a store"
)]
mod checker;
mod disk;
#[path = "../../../cluster/tests/simulation/etcd.rs"]
mod etcd;
#[path = "../../../cluster/tests/simulation/mutant.rs"]
mod mutant;
mod store;
#[path = "../../../cluster/tests/simulation/world.rs"]
mod world;

/// The store of the nodes, and its checker.
mod model {
    pub(crate) use crate::checker::{Checker, check_requests};
    pub(crate) use crate::store::{Store, Update};
}

use crate::mutant::Mutant;
use crate::store::Files;
use crate::world::{Faults, World};

/// Runs of the short form.
const RUNS: u64 = 4;
/// Runs in which a broken rule has to be noticed.
const RUNS_OF_MUTANT: u64 = 20;
/// Simulated seconds of a run.
const SECONDS: u64 = 60;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} must be a number")),
    )
}

#[test]
fn real_stores_keep_the_promises_of_the_cluster() {
    let _files = Files::begin();
    let first = number("FULGURITE_TEST_SEED");
    let runs = number("FULGURITE_TEST_RUNS").unwrap_or(if first.is_some() { 1 } else { RUNS });
    let first = first.unwrap_or(1);
    let mut faults = Faults::new();
    let (mut done, mut refused, mut served) = (0, 0, 0);
    for seed in first..first + runs {
        let mut world = World::new(seed, SECONDS, None);
        let ran = world.run();
        assert_eq!(ran, Ok(()), "FULGURITE_TEST_SEED={seed}");
        done += world.checker.done;
        refused += world.checker.refused;
        served += world.checker.served;
        for (name, count) in world.faults {
            *faults.entry(name).or_default() += count;
        }
    }
    println!("{runs} runs: {done} updates, {refused} refusals, {served} reads; {faults:?}");
    assert!(
        done > 0 && refused > 0 && served > 0,
        "the cluster does nothing"
    );
}

#[test]
fn broken_rules_are_noticed_on_real_stores() {
    let _files = Files::begin();
    // An old end is noticed in one of fifty runs, which are too many here.
    let mutants = Mutant::ALL.into_iter();
    for mutant in mutants.filter(|mutant| *mutant != Mutant::OldEnd) {
        let run = |seed: &u64| {
            let world = || World::new(*seed, SECONDS, Some(mutant)).run();
            // A torn store may end the run: no node could begin with it.
            let ran = std::panic::catch_unwind(world);
            ran.unwrap_or_else(|_| Err("a node cannot go on".to_owned()))
        };
        let found = (1..=RUNS_OF_MUTANT).find_map(|seed| Some((seed, run(&seed).err()?)));
        println!("{mutant:?}: {found:?}");
        assert!(found.is_some(), "{mutant:?} goes unnoticed");
    }
}
