//! Making an environment's file shorter while others use it.

use std::path::Path;
use std::time::{Duration, Instant};

use fulgurite::check::{CheckOptions, Checker};
use fulgurite::{CompactReport, CompactStep, Compaction, Txnid};

use crate::backup::BackupError;
use crate::{ToolError, options_for};

/// What to do, and how long to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CompactOptions {
    /// The file need not become shorter than this many octets.
    pub until_bytes: u64,
    /// Free pages inside the file become holes.
    pub punch: bool,
    /// How long to wait, in all, for readers that hold what is to be moved.
    pub wait: Duration,
    /// A pause after each step that writes, for others.
    pub pause: Duration,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compacted {
    /// What was done.
    pub report: CompactReport,
    /// The oldest snapshot that a reader held when waiting for it came to its end.
    pub held_by: Option<Txnid>,
}

/// Compacts the environment at `path` while others use it. `progress` is told the state after each step. The environment is
/// checked first: who moves pages relies on the free list.
/// # Errors
/// [`BackupError`]; [`BackupError::Unsound`] for a damaged environment, of which nothing is changed.
pub fn compact(
    path: &Path,
    options: CompactOptions,
    progress: &mut dyn FnMut(&CompactReport),
) -> Result<Compacted, BackupError> {
    let opening = |source| ToolError::Open {
        path: path.to_owned(),
        source,
    };
    let environment = options_for(path).open(path).map_err(opening)?;
    check(&environment, path)?;
    let mut compaction = Compaction::new()
        .until_bytes(options.until_bytes)
        .punch_free_pages(options.punch);
    let mut waited = Duration::ZERO;
    let mut held_by = None;
    let mut commits = 0;
    loop {
        match environment.compact_step(&mut compaction)? {
            CompactStep::Working => {}
            CompactStep::Done => break,
            CompactStep::Waiting(_) if waited < options.wait => {
                let begun = Instant::now();
                std::thread::sleep(WAIT_STEP.min(options.wait));
                waited += begun.elapsed();
            }
            CompactStep::Waiting(oldest) => {
                held_by = Some(oldest);
                if !compaction.stop_moving() {
                    break;
                }
            }
        }
        progress(&compaction.report());
        if compaction.report().commits > commits && !options.pause.is_zero() {
            commits = compaction.report().commits;
            std::thread::sleep(options.pause);
        }
    }
    Ok(Compacted {
        report: compaction.report(),
        held_by,
    })
}

/// How long to sleep before looking at readers again.
const WAIT_STEP: Duration = Duration::from_millis(50);

/// Refuses to move pages in a damaged environment.
fn check(environment: &fulgurite::Environment, path: &Path) -> Result<(), BackupError> {
    let txn = environment.read()?;
    let data = if path.is_file() {
        path.to_owned()
    } else {
        path.join("data.mdb")
    };
    let options = CheckOptions::default()
        .snapshot(txn.id().0)
        .previous(false)
        .any_order_everywhere(true);
    let report = Checker::new(options)
        .check_file(&data)
        .map_err(|error| BackupError::Damage(error.to_string()))?;
    let is_loss = |fault: &fulgurite::check::Fault| matches!(fault, fulgurite::check::Fault::Lost);
    match report.findings.iter().find(|found| !is_loss(&found.fault)) {
        Some(found) => Err(BackupError::Damage(found.to_string())),
        None => Ok(()),
    }
}
