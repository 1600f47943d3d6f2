//! Random histories for databases with overlays: memberof, dynlist, refint, unique, constraint,
//! valsort and ppolicy, alone and together.
//!
//! ```text
//!   episode ──> worlds        a database with its overlays, and the kinds of requests
//!               material      names, values and entries: few of each, so that they meet
//!               requests      updates, searches and compares of entries
//!               passwords     binds and changes of passwords; time passes by moving times back
//!               history       each request to both servers; after each update, all entries
//!               hashes        passwords, also behind hashes
//!               findings      two answers -> differences: one for each attribute of each entry
//!               explained     differences that are meant, explained by the stored entries
//!               broken_rules  the same for constraint
//!               weights       the same for valsort
//!               references    the same for values that follow their entries
//!               kept_passwords  the same for stored passwords
//!               shown         the same for dynlist, explained by the entries as they are shown
//!               accepted.txt  other differences that are meant, each with its reason
//! ```
//! Diagnostics, response controls and the order of values are compared too. Times may differ by a
//! few seconds.
//!
//! | variable | |
//! | --- | --- |
//! | `FULGURITE_TEST_SEED` | the first episode's seed |
//! | `FULGURITE_DIFF_OPERATIONS` | how many operations (5,000) |
//! | `FULGURITE_DIFF_WORLD` | only this database |
//! | `FULGURITE_DIFF_HISTORY` | run this one episode and print every request with both answers |

mod broken_rules;
mod explained;
mod findings;
mod hashes;
mod history;
mod kept_passwords;
mod material;
mod passwords;
mod references;
mod requests;
mod shown;
mod weights;
mod worlds;

use std::collections::BTreeMap;

use fulgurite_testkit::{Scratch, quick_or_long, seed};

use crate::accepted::Accepted;
use crate::number;

use findings::Finding;
use history::Arena;
use worlds::{WORLDS, World};

/// Differences printed in full, of each kind.
const SHOWN: usize = 8;

#[test]
fn random_histories_with_overlays_get_the_same_answers() {
    let scratch = Scratch::new("differential-overlays");
    let accepted = Accepted::read::<Finding>(include_str!("accepted.txt"));
    let mut arena = Arena::start(&scratch, "first");
    let only = std::env::var("FULGURITE_DIFF_WORLD").ok();
    let worlds: Vec<&'static World> = WORLDS
        .iter()
        .filter(|world| only.as_deref().is_none_or(|only| world.name == only))
        .collect();
    assert!(!worlds.is_empty(), "no world {only:?}");
    let world = |episode: u64| worlds[(episode % worlds.len() as u64) as usize];
    if let Some(episode) = number("FULGURITE_DIFF_HISTORY") {
        arena.is_verbose = true;
        arena.run(episode as u64, world(episode as u64), &scratch);
    } else {
        let first = seed("differential-overlays", 20_261_126);
        let wanted = number("FULGURITE_DIFF_OPERATIONS").unwrap_or(quick_or_long(5_000, 200_000));
        for episode in 0.. {
            if arena.counts.operations >= wanted {
                break;
            }
            let episode = first.wrapping_add(episode);
            arena.run(episode, world(episode), &scratch);
        }
    }
    println!("{}", arena.counts);
    for (reason, count) in &arena.reasons {
        println!("{count} times: {reason}");
    }
    let unexplained = unexplained(&accepted, &arena.findings);
    assert!(
        unexplained == 0,
        "{unexplained} differences in {} operations",
        arena.counts.operations
    );
    if only.is_none() && number("FULGURITE_DIFF_HISTORY").is_none() {
        arena.counts.assert_varied();
    }
}

/// Prints the differences without an explanation, and returns their number.
fn unexplained(accepted: &Accepted, findings: &[Finding]) -> usize {
    let mut uses: BTreeMap<usize, usize> = BTreeMap::new();
    let mut kinds: BTreeMap<String, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        match accepted.line_for(finding) {
            Some(line) => *uses.entry(line).or_default() += 1,
            None => kinds.entry(finding.kind()).or_default().push(finding),
        }
    }
    for (line, count) in &uses {
        println!("overlays/accepted.txt line {line}: {count} times");
    }
    for findings in kinds.values() {
        for finding in findings.iter().take(SHOWN) {
            println!("\n{finding}");
        }
    }
    for (kind, findings) in &kinds {
        println!("{} x {kind}", findings.len());
    }
    kinds.values().map(Vec::len).sum()
}
