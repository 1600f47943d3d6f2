//! The short run of damaged files: seconds of the work that `torture corruption` does without
//! end.

use std::path::PathBuf;

use fulgurite_testkit::{quick_or_long, reference_libraries, seed, walker_program};
use fulgurite_torture::corruption::{
    Fate, Plan, Subject, SubjectTally, all_bases, default_scratch, run_plan,
};
use fulgurite_torture::options::RunClock;

fn plan(seed: u64, count: u64, subjects: Vec<(String, Subject)>) -> Plan {
    Plan {
        clock: RunClock::endless(seed),
        first: 0,
        count,
        jobs: 2,
        subjects,
        scratch: default_scratch(),
        is_control: false,
        is_live: false,
    }
}

fn ours() -> (String, Subject) {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_torture"));
    ("ours, Rust".to_owned(), Subject::Rust(program))
}

fn real() -> (String, Subject) {
    let subject = Subject::C {
        program: walker_program(),
        library: reference_libraries().swap_remove(0),
        is_ours: false,
    };
    ("real".to_owned(), subject)
}

#[test]
fn our_engine_survives_mutated_files() {
    let seed = seed("damage", 20_261_121);
    let count = quick_or_long(2500, 1_000_000);
    let outcome = run_plan(&plan(seed, count, vec![ours()]), &all_bases(), &|_| {}).unwrap();
    let [tally] = &outcome.tallies[..] else {
        panic!("one subject, one tally");
    };
    println!("{tally}");
    assert!(tally.is_good(), "seed {seed}: {:?}", outcome.failures);
    // A run without refusals or findings would have tried nothing.
    for fate in [Fate::Refused, Fate::Errors, Fate::Clean] {
        assert!(tally.fates.of(&fate) * 10 > count, "{tally}");
    }
    assert_eq!(tally.fates.total(), count);
}

#[test]
fn our_engine_survives_files_that_are_cut_or_overwritten_while_it_walks_them() {
    let mut plan = plan(7, quick_or_long(1200, 100_000), vec![ours()]);
    plan.is_live = true;
    let outcome = run_plan(&plan, &all_bases(), &|_| {}).unwrap();
    for tally in &outcome.tallies {
        assert!(tally.is_good(), "{tally}: {:?}", outcome.failures);
        let errors = tally.fates.of(&Fate::Errors);
        assert!(errors > tally.fates.total() / 20, "it was noticed: {tally}");
    }
}

#[test]
fn sound_files_are_walked_without_complaint_and_mutated_ones_kill_the_real_library() {
    let bases = all_bases();
    let mut control = plan(1, 150, vec![ours(), real()]);
    control.is_control = true;
    let outcome = run_plan(&control, &bases, &|_| {}).unwrap();
    // The original dies of one or another sound file; ours of none.
    for ((tally, said), forgiven) in outcome.tallies.iter().zip(&outcome.said).zip([0, 2]) {
        let [clean, hangs] = [Fate::Clean, Fate::Hang].map(|fate| tally.fates.of(&fate));
        assert!(tally.crashed() + hangs <= forgiven, "{said}: {tally}");
        assert!(clean * 10 > tally.fates.total() * 7, "{said}: {tally}");
    }
    // The counter-proof: who does not check what it reads does not survive this, so the mutations
    // do bite.
    let outcome = run_plan(&plan(1, 60, vec![real()]), &bases, &|_| {}).unwrap();
    let died: u64 = outcome.tallies.iter().map(SubjectTally::crashed).sum();
    assert!(died > 3, "{:?}", outcome.tallies);
}
