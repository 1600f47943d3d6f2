//! The report: a table of the faults tried.

use anyhow::ensure;
use fulgurite::seam::Call;

use super::injector::{Fault, Made};
use super::sweep::SweepTally;
use crate::options::RunClock;

/// Prints the figures of a sweep.
pub(super) fn print(tally: &SweepTally, clock: &RunClock) {
    println!("{:24} {:>8} {:>8}  with", "site", "calls", "faults");
    for (site, calls) in tally.calls.iter() {
        let total = tally.faults.sum(|(failed, _)| failed == site);
        let how: Vec<String> = tally
            .faults
            .iter()
            .filter(|((failed, _), _)| failed == site)
            .map(|((_, name), count)| format!("{name} {count}"))
            .collect();
        println!(
            "{:24} {calls:>8} {total:>8}  {}",
            site.to_string(),
            how.join(", ")
        );
    }
    println!(
        "{} runs, {} faults injected, {} pairs, {} found; seed {}; {:.0} s, {:.0} runs a second",
        tally.runs,
        tally.faults.total(),
        tally.pairs,
        tally.failures.len(),
        clock.seed,
        clock.seconds(),
        tally.runs as f64 / clock.seconds()
    );
    for failure in &tally.failures {
        println!("FOUND {failure}");
    }
}

/// A sweep that did not reach a kind of call proves nothing of it.
/// # Errors
/// Names the kinds that were not reached, or never failed.
pub(super) fn all_calls_reached(tally: &SweepTally) -> anyhow::Result<()> {
    let failed = |call: &Call| tally.faults.sum(|(site, _)| site.call == *call) > 0;
    let missing: Vec<&Call> = Call::ALL.iter().filter(|call| !failed(call)).collect();
    ensure!(
        missing.is_empty(),
        "no history lets these calls fail: {missing:?}"
    );
    Ok(())
}

/// Prints the calls of a run.
pub(super) fn print_calls(made: &[Made], faults: &[Fault]) {
    for (index, call) in made.iter().enumerate() {
        let number = index as u64 + 1;
        let fault = faults.iter().find(|fault| fault.number == number);
        let mark = fault.map_or(String::new(), |fault| format!("   <--- {fault}"));
        println!("{number:>5} {} {}{mark}", call.site, call.len);
    }
}
