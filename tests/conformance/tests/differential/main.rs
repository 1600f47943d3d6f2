//! Random operations of every kind, legal and not, for Debian's slapd and our server. The answers
//! must be equal.
//!
//! ```text
//!   seed ──> episode: a small tree of its own, then a hundred requests under three identities, then a dump
//!              requests, generate    octets of requests and of odd ones         (knows no server)
//!              conversation          octets to a server, its answer             (knows no generator)
//!              compare               two answers -> differences, or none
//!              accepted.txt          differences that are known, each with its reason
//! ```
//! Both servers read the same slapd.conf, so its dialect is under test as well. The comparison
//! covers result code, matched DN, referrals, entries with all values, search references, and
//! response controls. Diagnostics are not compared; the share of equal ones is printed.
//!
//! | variable | |
//! | --- | --- |
//! | `FULGURITE_TEST_SEED` | the first episode's seed |
//! | `FULGURITE_DIFF_OPERATIONS` | how many operations (10,000) |
//! | `FULGURITE_DIFF_EPISODE` | run this one episode and print every request with both answers |
//! | `FULGURITE_TEST_PEERS=slapd` | slapd in our server's place: nothing may differ then |

#![forbid(unsafe_code)]

mod accepted;
mod ber;
mod compare;
mod controls;
mod conversation;
mod episode;
mod filters;
mod names;
mod overlays;
mod requests;
mod servers;
mod values;

use std::collections::BTreeMap;

use fulgurite_testkit::{Scratch, quick_or_long, seed};

use accepted::Accepted;
use compare::Difference;
use episode::Duel;

/// Differences printed in full.
const SHOWN: usize = 200;

#[test]
fn random_operations_get_the_same_answers() {
    let scratch = Scratch::new("differential");
    let accepted = Accepted::read::<Difference>(include_str!("accepted.txt"));
    let mut duel = Duel::start(&scratch, "first");
    if let Some(episode) = number("FULGURITE_DIFF_EPISODE") {
        duel.is_verbose = true;
        duel.run(episode as u64, &scratch);
    } else {
        let first = seed("differential", 20_261_121);
        let wanted = number("FULGURITE_DIFF_OPERATIONS").unwrap_or(quick_or_long(10_000, 500_000));
        for episode in 0.. {
            if duel.counts.operations >= wanted {
                break;
            }
            duel.run(first.wrapping_add(episode), &scratch);
        }
        duel.counts.assert_varied();
    }
    println!("{}", duel.counts);
    let mut unexplained = Vec::new();
    let mut uses: BTreeMap<usize, usize> = BTreeMap::new();
    for difference in &duel.differences {
        match accepted.line_for(difference) {
            Some(line) => *uses.entry(line).or_default() += 1,
            None => unexplained.push(difference),
        }
    }
    for (line, count) in &uses {
        println!("accepted.txt line {line}: {count} times");
    }
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for difference in &unexplained {
        *kinds.entry(difference.kind()).or_default() += 1;
    }
    for difference in unexplained.iter().take(SHOWN) {
        println!("\n{difference}");
    }
    for (kind, count) in &kinds {
        println!("{count} x {kind}");
    }
    assert!(
        unexplained.is_empty(),
        "{} of {} operations have answers that differ",
        unexplained.len(),
        duel.counts.operations
    );
}

pub(crate) fn number(variable: &str) -> Option<usize> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} is no number: {text}")),
    )
}
