//! The environment variables: see `main.rs` for their list.

use std::env;
use std::path::{Path, PathBuf};

/// Where the reference is built, below the root of the project. Older versions than this one crash
/// too often.
const REFERENCE: &str = "build/lmdb-0.9.36/liblmdb.so";

/// Names of the variables that a parent gives to its children.
pub(crate) const JOB: &str = "FULGURITE_DIFF_JOB";
/// The directory for environments.
pub(crate) const DIR: &str = "FULGURITE_DIFF_DIR";
/// The file that every call is written to before it is made.
pub(crate) const TRACE: &str = "FULGURITE_DIFF_TRACE";
/// The steps to run.
pub(crate) const STEPS: &str = "FULGURITE_DIFF_STEPS";

/// The task of a child process.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    /// The first seed.
    pub(crate) first: u64,
    /// How many.
    pub(crate) count: u64,
    /// Where.
    pub(crate) dir: PathBuf,
    /// Where calls are traced.
    pub(crate) trace: Option<PathBuf>,
}

/// Everything that can be set.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The library that is right.
    pub(crate) reference: PathBuf,
    /// The library under test.
    pub(crate) ours: PathBuf,
    /// Only this seed.
    pub(crate) seed: Option<u64>,
    /// Only these steps.
    pub(crate) steps: Option<Vec<usize>>,
    /// The first seed.
    pub(crate) first: u64,
    /// How many.
    pub(crate) seeds: u64,
    /// Failures after which the run stops.
    pub(crate) failures_max: usize,
    /// Print the table of calls.
    pub(crate) coverage: bool,
    /// Shuffle the second library's trees.
    pub(crate) shuffle: bool,
    /// This process is a child.
    pub(crate) job: Option<Job>,
}

impl Settings {
    /// Reads them.
    pub(crate) fn from_environment() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let reference = path("FULGURITE_DIFF_REFERENCE").unwrap_or(root.join(REFERENCE));
        assert!(
            reference.exists(),
            "{} is missing: scripts/setup.sh all builds it",
            reference.display()
        );
        Self {
            reference,
            ours: path("FULGURITE_DIFF_OURS").unwrap_or_else(ours),
            seed: number("FULGURITE_TEST_SEED"),
            steps: env::var(STEPS).ok().map(|text| parse_steps(&text)),
            first: number("FULGURITE_DIFF_FIRST").unwrap_or(0),
            seeds: number("FULGURITE_DIFF_SEEDS").unwrap_or(2000),
            failures_max: number("FULGURITE_DIFF_FAILURES").unwrap_or(12) as usize,
            coverage: env::var_os("FULGURITE_DIFF_COVERAGE").is_some(),
            shuffle: env::var_os("FULGURITE_DIFF_SHUFFLE").is_some(),
            job: job(),
        }
    }
}

fn path(name: &str) -> Option<PathBuf> {
    env::var_os(name).map(PathBuf::from)
}

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} must be a decimal number, not '{text}'")),
    )
}

fn job() -> Option<Job> {
    let text = env::var(JOB).ok()?;
    let (first, count) = text.split_once(' ')?;
    Some(Job {
        first: first.parse().ok()?,
        count: count.parse().ok()?,
        dir: path(DIR)?,
        trace: path(TRACE),
    })
}

/// The library that cargo built with this test.
fn ours() -> PathBuf {
    let exe = env::current_exe().unwrap_or_default();
    let deps = exe.parent().unwrap_or(Path::new(".")).to_owned();
    let candidates = [deps.join("liblmdb.so"), deps.join("../liblmdb.so")];
    let found = candidates.iter().find(|path| path.exists());
    found.unwrap_or(&candidates[0]).clone()
}

/// `0-4,9` as numbers.
fn parse_steps(text: &str) -> Vec<usize> {
    let mut steps = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let number = |t: &str| {
            t.parse::<usize>()
                .unwrap_or_else(|_| panic!("'{part}' is no step"))
        };
        steps.extend(number(from)..=number(to));
    }
    steps
}

/// Numbers as `0-4,9`.
pub(crate) fn format_steps(steps: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for &step in steps {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == step => *last = step,
            _ => parts.push((step, step)),
        }
    }
    let text = |&(from, to): &(usize, usize)| {
        if from == to {
            from.to_string()
        } else {
            format!("{from}-{to}")
        }
    };
    parts.iter().map(text).collect::<Vec<_>>().join(",")
}

#[test]
fn step_numbers_survive_conversion_to_text() {
    let steps = [0, 1, 2, 5, 9, 10];
    assert_eq!(format_steps(&steps), "0-2,5,9-10");
    assert_eq!(parse_steps(&format_steps(&steps)), steps);
}
