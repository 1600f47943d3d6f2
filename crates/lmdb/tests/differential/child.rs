//! A child process: runs seeds one after the other, and prints how each ended. A library that
//! crashes or hangs takes only this process with it; the last line tells where.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::api::Api;
use crate::compare::Difference;
use crate::plan::plan;
use crate::run::Runner;
use crate::settings::{Job, Settings};

/// Marks the lines that are meant for the parent.
pub(crate) const MARK: &str = "@";

/// Runs the job's seeds up to the first difference.
pub(crate) fn run(settings: &Settings, job: &Job) {
    let apis = [load(&settings.reference), load(&settings.ours)];
    let mut counts = std::collections::BTreeMap::<String, u64>::new();
    for seed in job.first..job.first + job.count {
        say(&format!("start {seed}"));
        let dir = job.dir.join(seed.to_string());
        let trace = job
            .trace
            .as_ref()
            .map(|path| File::create(path).expect("create the trace"));
        let (calls, result) = run_seed(
            settings,
            [&apis[0], &apis[1]],
            seed,
            &dir,
            trace,
            &mut counts,
        );
        std::fs::remove_dir_all(&dir).expect("remove the environments of a seed");
        match result {
            Ok(()) => say(&format!("same {seed} {calls}")),
            Err(failure) => return report(seed, &failure),
        }
    }
    for (name, count) in counts {
        say(&format!("count {count} {name}"));
    }
}

/// A difference and where it came up.
struct Failure {
    difference: Difference,
    step: usize,
    step_text: String,
    tail: Vec<String>,
}

fn run_seed(
    settings: &Settings,
    apis: [&Api; 2],
    seed: u64,
    dir: &Path,
    trace: Option<File>,
    counts: &mut std::collections::BTreeMap<String, u64>,
) -> (u64, Result<(), Failure>) {
    let (profile, steps) = plan(seed);
    let fail = |difference, step: usize, tail: Vec<String>| Failure {
        difference,
        step,
        step_text: steps
            .get(step)
            .map_or("the end".to_owned(), |s| format!("{s:?}")),
        tail,
    };
    let mut runner = match Runner::new(apis, &profile, dir, trace, settings.shuffle) {
        Ok(runner) => runner,
        Err(difference) => return (0, Err(fail(difference, 0, Vec::new()))),
    };
    let all: Vec<usize> = (0..steps.len()).collect();
    let chosen = settings.steps.as_ref().unwrap_or(&all);
    for &index in chosen {
        let Some(&step) = steps.get(index) else {
            continue;
        };
        if let Err(difference) = runner.step(step) {
            let tail = runner.tail.iter().cloned().collect();
            return (0, Err(fail(difference, index, tail)));
        }
    }
    if let Err(difference) = runner.finish() {
        let tail = runner.tail.iter().cloned().collect();
        return (0, Err(fail(difference, steps.len(), tail)));
    }
    let mut calls = 0;
    for (name, count) in &runner.counts {
        calls += count;
        *counts.entry(name.clone()).or_default() += count;
    }
    (calls, Ok(()))
}

fn report(seed: u64, failure: &Failure) {
    let difference = &failure.difference;
    say(&format!(
        "differs {seed} {} {}",
        failure.step, difference.signature
    ));
    say(&format!(
        "| seed {seed}, step {}: {}",
        failure.step, failure.step_text
    ));
    say(&format!("| call:      {}", difference.call));
    say(&format!("| reference: {}", difference.reference));
    say(&format!("| ours:      {}", difference.ours));
    say("| the last calls:");
    for call in &failure.tail {
        say(&format!("|   {call}"));
    }
}

fn load(path: &Path) -> Api {
    match Api::load(path) {
        Ok(Some(api)) => api,
        Ok(None) => panic!("{} exports no mdb_env_create", path.display()),
        Err(e) => panic!("load {}: {e}", path.display()),
    }
}

fn say(line: &str) {
    // Unbuffered by line, so that nothing is lost in a crash.
    let mut out = std::io::stdout().lock();
    writeln!(out, "{MARK}{line}").expect("write to the parent");
    out.flush().expect("write to the parent");
}
