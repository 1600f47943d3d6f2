//! The log of changes against itself.

use super::report::Report;
use crate::changes::{ChainEnd, Chains};
use crate::error::StoreError;
use crate::view::View;
use fulgurite::Snapshot;

/// Checks that each record is found by its number, that the counts agree, and that each deletion
/// is remembered twice.
pub(super) fn check_changes(view: &View<'_>, report: &mut Report) -> Result<(), StoreError> {
    let (state, dbs) = match view.changes() {
        Ok(state) => (state, view.store.dbs),
        Err(StoreError::Damaged(_)) => {
            report.problem(|| "the state of the log of changes is malformed".to_owned());
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    if !dbs.has_log {
        return Ok(());
    }
    let (mut bytes, mut chains) = (0, Chains::default());
    let mut cursor = view.txn.cursor(dbs.changes)?;
    let mut row = cursor.first()?;
    while let Some((key, value)) = row {
        row = cursor.next()?;
        let position = key.try_into().map_or(0, u64::from_be_bytes);
        bytes += value.len() as u64;
        if !(state.oldest..=state.newest).contains(&position) {
            report.problem(|| format!("change {position}: is outside the log"));
        }
        match view.change(position) {
            Ok(Some(change)) => {
                let is_found = match change.back {
                    Some(back) => {
                        let is_behind_all = position.saturating_sub(back) < state.oldest;
                        let before = chains.append(change.csn, position);
                        before == Some(back) || before == Some(0) && is_behind_all
                    }
                    None => view.has_number(change.csn, position)?,
                };
                if !is_found {
                    report.problem(|| format!("change {position}: is not found by its number"));
                }
                if change.operations().is_err() || change.author().is_err() {
                    report.problem(|| format!("change {position}: is malformed"));
                }
            }
            _ => report.problem(|| format!("change {position}: is malformed")),
        }
    }
    let is_end = |end: ChainEnd| state.chains.iter().any(|known| known == end);
    if !chains.iter().all(is_end) {
        report
            .problem(|| "the chains of the log of changes do not end with its records".to_owned());
    }
    if bytes != state.bytes {
        report.problem(|| format!("the log of changes has {bytes} bytes, not {}", state.bytes));
    }
    let (by_uuid, by_csn) = (
        view.txn.prefix(dbs.tombstones, &[0])?,
        view.txn.prefix(dbs.tombstones, &[1])?,
    );
    if by_uuid.count() != by_csn.count() {
        report.problem(|| "the deleted entries are not those of the deletions".to_owned());
    }
    Ok(())
}
