//! A model of the whole: two to five providers of each other, in one thread.
//!
//! ```text
//!   clients --> node (store, directory, clock)        node
//!                 |  search task                        ^
//!                 v                                     | batches, one transaction each
//!               wire: delays, cuts, partitions  -->  consumer (state machine)
//! ```
//!
//! The stores, the directories and the consumers are those of the server. A seed decides what
//! happens: updates in conflict, crashes, partitions, clocks that are wrong. Then all ways open.
//! In the end all servers must be equal, and no acknowledged update may be lost against the rules.
//!
//! ```sh
//! FULGURITE_TEST_SEED=4711 cargo test -p fulgurite-replica --test several      # one seed
//! FULGURITE_TEST_RUNS=10000 cargo test -p fulgurite-replica --test several     # many
//! FULGURITE_TEST_HOURS=24                                                     # of simulated time
//! FULGURITE_TEST_TRACE=1                                                       # what happens
//! ```

#![forbid(unsafe_code)]

mod broken_rule;
mod clients;
mod history;
mod link;
mod merging;
mod mesh;
mod node;
mod passed;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use fulgurite_schema::Schema;

use crate::broken_rule::BrokenRule;
use crate::mesh::{Mesh, Plan, STEP_MS, lives};

/// Runs of the short form.
const RUNS: u64 = 30;
/// Seeds that have found what others had not. Deletions were missing, or of an entry that was back,
/// and a state went back. An entry that got the name of glue lost the numbers of its parts. A state
/// passed a change while its entry waited for a name. A name waited that the other server forgot.
const FOUND: [u64; 13] = [
    304, 459, 490, 495, 691, 808, 907, 2650, 2663, 2681, 7077, 51431, 71213,
];
/// Runs in which a broken rule has to be noticed.
const RUNS_OF_RULE: u64 = 100;
/// Steps of a run.
const STEPS: usize = 600;
/// Steps of a run that lasts hours of simulated time.
const STEPS_OF_HOURS: usize = 10_000;

/// Runs one seed. Returns the simulated time that has passed, and the first fault.
fn run(seed: u64, schema: &Arc<Schema>, plan: Plan) -> (Duration, Result<(), String>) {
    let lives = lives(&plan);
    let mesh = Mesh::new(seed, schema, &lives);
    let world_us = mesh.world();
    let outcome = mesh.run(plan);
    let passed = Duration::from_micros(world_us.load(Ordering::Relaxed));
    (passed, outcome)
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} must be a number")),
    )
}

#[test]
fn servers_that_meet_again_are_equal() {
    let schema = Schema::standard();
    let hours = number("FULGURITE_TEST_HOURS").map(|hours| hours as usize);
    let usual = if hours.is_some() {
        STEPS_OF_HOURS
    } else {
        STEPS
    };
    let steps = number("FULGURITE_TEST_STEPS").map_or(usual, |steps| steps as usize);
    // Half of the greatest time passes between two steps.
    let step_ms = hours.map_or(STEP_MS, |hours| 2 * hours * 3_600_000 / steps);
    let plan = Plan {
        steps,
        step_ms,
        rule: None,
    };
    let first = number("FULGURITE_TEST_SEED");
    let is_one = first.is_some() || hours.is_some();
    let runs = number("FULGURITE_TEST_RUNS").unwrap_or(if is_one { 1 } else { RUNS });
    let found = if is_one { &[][..] } else { &FOUND };
    let first = first.unwrap_or(1);
    let mut failed = Vec::new();
    let mut simulated = Duration::ZERO;
    for seed in (first..first + runs).chain(found.iter().copied()) {
        let (passed, outcome) = run(seed, &schema, plan);
        simulated += passed;
        if let Err(text) = outcome {
            println!("FULGURITE_TEST_SEED={seed}: {text}");
            failed.push(seed);
        }
    }
    let (count, minutes) = (runs + found.len() as u64, simulated.as_secs() / 60);
    println!(
        "{count} runs, {} hours {} minutes simulated",
        minutes / 60,
        minutes % 60
    );
    assert!(failed.is_empty(), "{} of {runs}: {failed:?}", failed.len());
}

#[test]
fn broken_rules_are_noticed() {
    let schema = Schema::standard();
    for rule in BrokenRule::ALL {
        let plan = Plan {
            steps: STEPS,
            step_ms: STEP_MS,
            rule: Some(rule),
        };
        let found = (1..=RUNS_OF_RULE).find(|seed| run(*seed, &schema, plan).1.is_err());
        println!("{rule:?}: seed {found:?}");
        assert!(found.is_some(), "{rule:?} goes unnoticed");
    }
}
