//! The search of a consumer, in whatever kind of content.

use super::glued::GluedRun;
use super::log_content::LogContent;
use super::run::{SyncProgress, SyncRun};
use super::tree_content::TreeContent;
use crate::search::run::Quantum;

/// The synchronisation of a consumer.
pub(crate) enum FollowingSearch<'d> {
    /// With a log of changes.
    Log(Box<LogContent<'d>>),
    /// With the configuration.
    Tree(Box<TreeContent>),
    /// With a database.
    Database(Box<SyncRun<'d>>),
    /// With several databases.
    Glued(Box<GluedRun<'d>>),
}

impl FollowingSearch<'_> {
    /// Works for one quantum, and appends messages.
    pub(crate) fn advance(&mut self, out: &mut Vec<u8>, quantum: Quantum) -> SyncProgress {
        match self {
            FollowingSearch::Log(run) => run.advance(out, quantum),
            FollowingSearch::Tree(run) => run.advance(out),
            FollowingSearch::Database(run) => run.advance(out, quantum),
            FollowingSearch::Glued(run) => run.advance(out, quantum),
        }
    }

    /// Returns the number of entries sent, and the candidates of the last step.
    pub(crate) fn figures(&self) -> (u32, usize) {
        match self {
            FollowingSearch::Log(run) => (run.sent, run.worked),
            FollowingSearch::Tree(run) => (run.sent, 0),
            FollowingSearch::Database(run) => (run.sent, run.worked),
            FollowingSearch::Glued(run) => (run.sent, run.worked),
        }
    }

    /// Gives up the snapshot. A log and the configuration hold none between steps.
    pub(crate) fn park(&mut self) {
        match self {
            FollowingSearch::Log(_) | FollowingSearch::Tree(_) => {}
            FollowingSearch::Database(run) => run.park(),
            FollowingSearch::Glued(run) => run.park(),
        }
    }
}
