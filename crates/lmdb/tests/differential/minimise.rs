//! Shortens a failing plan: omits chunks of steps as long as the same kind of failure occurs.

use std::time::{Duration, Instant};

use crate::batch::{Failure, OneRun, Work};
use crate::plan::plan;
use crate::settings::format_steps;

/// Time limit: the plan reached by then is short enough.
const LIMIT: Duration = Duration::from_secs(60);

/// The shortest script found, and how to replay it.
pub(crate) fn minimise(work: &Work<'_>, failure: &Failure) -> String {
    let deadline = Instant::now() + LIMIT;
    let (profile, steps) = plan(failure.seed);
    let fails = |chosen: &[usize]| -> Option<OneRun> {
        let run = work.run_one(failure.seed, Some(chosen));
        let same = run
            .failure
            .as_ref()
            .is_some_and(|f| f.signature == failure.signature);
        same.then_some(run)
    };
    let last = failure
        .step
        .unwrap_or(steps.len())
        .min(steps.len().saturating_sub(1));
    let mut kept: Vec<usize> = (0..=last).collect();
    let Some(mut shortest) = fails(&kept) else {
        return format!(
            "  seed {} does not fail the same way when run alone\n",
            failure.seed
        );
    };
    let mut chunk = kept.len().div_ceil(2);
    while chunk > 0 && Instant::now() < deadline {
        let mut removed = false;
        let mut at = 0;
        while at < kept.len() && Instant::now() < deadline {
            let mut fewer = kept.clone();
            fewer.drain(at..(at + chunk).min(kept.len()));
            if let Some(run) = fails(&fewer) {
                (kept, shortest, removed) = (fewer, run, true);
            } else {
                at += chunk;
            }
        }
        if !(removed && chunk == 1) {
            chunk /= 2;
        }
    }
    let mut text = String::from("  minimised:\n");
    for db in &profile.databases {
        text.push_str(&format!("    database {}\n", db.describe()));
    }
    for call in &shortest.trace {
        text.push_str(&format!("    {call}\n"));
    }
    if let Some(found) = &shortest.failure {
        for line in found.report.lines().filter(|l| {
            ["call:", "reference:", "ours:", "stderr:"]
                .iter()
                .any(|word| l.contains(word))
        }) {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text.push_str(&format!(
        "  replay with FULGURITE_TEST_SEED={} FULGURITE_DIFF_STEPS={}\n",
        failure.seed,
        format_steps(&kept)
    ));
    text
}
