//! Figures of the backups that the server makes by itself.

use super::family::{self, Figures, Value};
use crate::statistics::{Statistics, seconds_now};

/// Adds the figures if the settings ask for backups.
pub(super) fn add(figures: &mut Figures, statistics: &Statistics) {
    let status = statistics.backups();
    let Some(plan) = status.plan() else {
        return;
    };
    let state = status.state();
    for (result, count) in [("success", state.written), ("failure", state.failures)] {
        let labels = vec![result.to_owned()];
        figures.add(&family::BACKUPS, labels, Value::Count(count));
    }
    figures.count(&family::BACKUP_FAILING, state.trouble.is_some().into());
    figures.count(&family::BACKUP_INTERVAL, plan.every.as_secs());
    let since = state.last.map(|last| last.time_s);
    let since = since.unwrap_or_else(|| statistics.facts().started_s);
    figures.count(&family::BACKUP_AGE, seconds_now().saturating_sub(since));
    let took = Value::Amount(state.took.as_secs_f64());
    figures.add(&family::BACKUP_DURATION, Vec::new(), took);
    let last = state.last.unwrap_or_default();
    figures.count(&family::BACKUP_TIME, last.time_s);
    figures.count(&family::BACKUP_SIZE, last.bytes);
}
