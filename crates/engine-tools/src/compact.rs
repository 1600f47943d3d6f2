//! Compacting an environment while other processes use it.

use std::path::Path;
use std::time::{Duration, Instant};

use fulgurite::check::{CheckOptions, Checker};
use fulgurite::{CompactReport, CompactStep, Compaction, Txnid};

use crate::backup::BackupError;
use crate::{ToolError, options_for};

/// The goal, and how long to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CompactOptions {
    /// Stop when the file has this many bytes.
    pub until_bytes: u64,
    /// Make holes of free pages inside the file.
    pub punch: bool,
    /// Longest time to wait, in all, for readers that pin pages to move.
    pub wait: Duration,
    /// The pause after each step that writes, for other writers.
    pub pause: Duration,
}

/// The outcome of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactOutcome {
    /// The engine's report.
    pub report: CompactReport,
    /// The oldest snapshot that a reader pinned when the waiting time ended.
    pub held_by: Option<Txnid>,
}

/// Compacts the environment at `path` while other processes use it. It calls `progress` after each
/// step.
///
/// It checks the environment first, because moving pages relies on the free list.
/// # Errors
/// [`BackupError`]; [`BackupError::Unsound`] for a damaged environment, which it does not change.
pub fn compact(
    path: &Path,
    options: CompactOptions,
    progress: &mut dyn FnMut(&CompactReport),
) -> Result<CompactOutcome, BackupError> {
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
    Ok(CompactOutcome {
        report: compaction.report(),
        held_by,
    })
}

/// The pause before checking the readers again.
const WAIT_STEP: Duration = Duration::from_millis(50);

/// Fails for a damaged environment, whose pages must not move.
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
