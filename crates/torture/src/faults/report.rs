//! The report: a table of the faults tried.

use std::time::Duration;

use anyhow::ensure;
use fulgurite::seam::Call;

use super::injector::{Fault, Made};
use super::sweep::Tally;

/// Prints the figures of a sweep.
pub(super) fn print(tally: &Tally, seed: u64, took: Duration) {
    println!("{:24} {:>8} {:>8}  with", "site", "calls", "faults");
    for (site, calls) in &tally.calls {
        let faults = tally.faults.get(site);
        let total: u64 = faults.map_or(0, |faults| faults.values().sum());
        let how: Vec<String> = faults
            .into_iter()
            .flatten()
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        println!(
            "{:24} {calls:>8} {total:>8}  {}",
            site.to_string(),
            how.join(", ")
        );
    }
    let injected: u64 = tally.faults.values().flat_map(|site| site.values()).sum();
    println!(
        "{} runs, {injected} faults injected, {} pairs, {} found; seed {seed}; {:.0?}, {:.0} runs a second",
        tally.runs,
        tally.pairs,
        tally.faults_found.len(),
        took,
        tally.runs as f64 / took.as_secs_f64().max(0.001)
    );
    for found in &tally.faults_found {
        println!("FOUND {found}");
    }
}

/// A sweep that did not reach a kind of call proves nothing of it.
/// # Errors
/// Names the kinds that were not reached, or never failed.
pub(super) fn all_calls_reached(tally: &Tally) -> anyhow::Result<()> {
    let failed = |call: &Call| tally.faults.keys().any(|site| site.call == *call);
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
